import type { Argument, Command, Option, OptionValues } from 'commander';
import type { Holdfast } from '../client/holdfast.ts';
import { withClient } from './connect.ts';
import type { CommandNeeds, Surroundings } from './connect.ts';
import { findConversation } from './find-conversation.ts';
import { newCommand, serverOptions } from './holdfast-command.ts';
import type { ConnectionFlags, JsonOption } from './holdfast-command.ts';
import { argument } from './options.ts';
import type { FlagsOf, WordsOf } from './options.ts';
import { openOutput } from './output.ts';
import type { Output } from './output.ts';

export const CONVERSATION = argument('<conversation>', 'id, its beginning or end, or `last`');

/** What a command prints: the JSON with `--json`, else the lines, and the remarks on standard error. */
export interface Printed {
  readonly json: unknown;
  readonly lines: readonly string[];
  /** Default: none. */
  readonly remarks?: readonly string[];
}

/** Makes the command under the name that it is listed by. */
export type MakeCommand = (name: string) => Command;

/** What a command does, for its own help, and whole command lines. */
export interface CommandTexts {
  readonly description: string;
  readonly examples: readonly string[];
}

/** What a command with these options gets; options of servers only where it has them. */
export type CommandFlags<Options extends readonly Option[]> = ConnectionFlags & FlagsOf<Options>;

interface CommandSpec<
  Call,
  Options extends readonly Option[],
  Arguments extends readonly Argument[],
> extends CommandTexts {
  readonly arguments?: Arguments;
  readonly options?: Options;
  /** @returns nothing when it printed by itself */
  readonly run: (call: Call, flags: CommandFlags<Options>, ...words: WordsOf<Arguments>) => Promise<Printed | void>;
}

interface LocalCall {
  readonly output: Output;
}

export interface ClientCall extends LocalCall {
  readonly client: Holdfast;
  readonly surroundings: Surroundings;
}

export interface ConversationCall extends ClientCall {
  readonly conversationId: string;
}

interface Untyped extends CommandTexts {
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly servers?: true;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- commander hands over values without types: the declarations know them
function makeCommand<Given extends OptionValues, Words extends readonly unknown[]>(
  spec: Untyped,
  run: (call: LocalCall, flags: Given, ...words: Words) => Promise<Printed | void>,
): MakeCommand {
  return (name) => {
    const examples = spec.examples.map((example) => `  $ ${example}`).join('\n');
    const command = newCommand(name)
      .description(spec.description)
      .helpOption('-h, --help', 'show this help')
      .addHelpText('after', `\nExamples:\n${examples}`)
      .option('--json', 'print JSON instead of text');
    if (spec.servers === true) {
      for (const each of serverOptions()) command.addOption(each);
      command.addHelpText('after', '\nOptions of servers: npx holdfast --help');
    }
    for (const each of spec.arguments ?? []) command.addArgument(each);
    for (const each of spec.options ?? []) command.addOption(each);
    return command.action(async (...words: Words) => {
      const { plain, ...flags } = command.opts<JsonOption & { readonly plain?: true }>();
      const output = openOutput({ plain: plain === true });
      print(output, flags, await run({ output }, command.opts<Given>(), ...words));
    });
  };
}

function print(output: Output, { json }: JsonOption, printed: Printed | void): void {
  if (printed === undefined) return;
  if (json === true) return output.json(printed.json);
  output.lines(printed.lines);
  for (const remark of printed.remarks ?? []) output.remark(remark);
}

/** A command that needs no servers, or finds them by itself. */
export function localCommand<
  const Options extends readonly Option[] = readonly [],
  const Arguments extends readonly Argument[] = readonly [],
>(spec: CommandSpec<LocalCall, Options, Arguments> & { readonly servers?: true }): MakeCommand {
  return makeCommand<CommandFlags<Options>, WordsOf<Arguments>>(spec, spec.run);
}

type Needs<Given> = CommandNeeds | ((flags: Given) => CommandNeeds);

async function printWithClient<Given extends ConnectionFlags>(
  { output }: LocalCall,
  { flags, needs = {} }: { readonly flags: Given; readonly needs: Needs<Given> | undefined },
  work: (call: ClientCall) => Promise<Printed | void>,
): Promise<void> {
  await withClient(flags, typeof needs === 'function' ? needs(flags) : needs, async (client, surroundings) => {
    // Before the client is closed: an interrupted process has no time for both.
    print(output, flags, await work({ output, client, surroundings }));
  });
}

export function clientCommand<
  const Options extends readonly Option[] = readonly [],
  const Arguments extends readonly Argument[] = readonly [],
>(spec: CommandSpec<ClientCall, Options, Arguments> & { readonly needs?: Needs<CommandFlags<Options>> }): MakeCommand {
  const { needs } = spec;
  return makeCommand<CommandFlags<Options>, WordsOf<Arguments>>({ ...spec, servers: true }, (call, flags, ...words) =>
    printWithClient(call, { flags, needs }, (open) => spec.run(open, flags, ...words)),
  );
}

/** A command with a client that reads: Temporal may be unknown or away. */
export function readerCommand<
  const Options extends readonly Option[] = readonly [],
  const Arguments extends readonly Argument[] = readonly [],
>(spec: CommandSpec<ClientCall, Options, Arguments> & { readonly needs?: CommandNeeds }): MakeCommand {
  return clientCommand<Options, Arguments>({ ...spec, needs: { ...spec.needs, temporal: false } });
}

/** A command for the conversation that its first argument names. */
export function conversationCommand<
  const Options extends readonly Option[] = readonly [],
  const Arguments extends readonly Argument[] = readonly [],
>(
  spec: CommandSpec<ConversationCall, Options, Arguments> & { readonly needs?: Needs<CommandFlags<Options>> },
): MakeCommand {
  const { needs } = spec;
  const all = { ...spec, arguments: [CONVERSATION, ...(spec.arguments ?? [])], servers: true } as const;
  return makeCommand<CommandFlags<Options>, [reference: string, ...words: WordsOf<Arguments>]>(
    all,
    (call, flags, reference, ...words) =>
      printWithClient(call, { flags, needs }, async (open) => {
        const conversationId = await findConversation(open.client, reference);
        try {
          return await spec.run({ ...open, conversationId }, flags, ...words);
        } catch (error) {
          const { adviceFor } = await import('./describe-error.ts');
          throw adviceFor(conversationId, error);
        }
      }),
  );
}
