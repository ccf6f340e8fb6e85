import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { Holdfast } from '../client/holdfast.ts';
import { withClient } from './connect.ts';
import type { CommandNeeds, Surroundings } from './connect.ts';
import { findConversation } from './find-conversation.ts';
import { newCommand, serverOptions } from './holdfast-command.ts';
import type { ConnectionFlags, JsonOption } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import type { Output } from './output.ts';

export const CONVERSATION = argument('<conversation>', 'id, its beginning or end, or `last`');

export function argument<Value>(
  flags: string,
  description: string,
  parse?: (text: string, earlier: Value) => Value,
): Argument {
  const made = new Argument(flags, description);
  return parse === undefined ? made : made.argParser(parse);
}

export function option<Value>(
  flags: string,
  description: string,
  parse?: (text: string, earlier: Value) => Value,
  otherwise?: Value,
): Option {
  const made = new Option(flags, description);
  if (parse !== undefined) made.argParser(parse);
  return otherwise === undefined ? made : made.default(otherwise);
}

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

interface CommandSpec<Call, Flags, Words extends readonly unknown[]> extends CommandTexts {
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  /** @returns nothing when it printed by itself */
  readonly run: (call: Call, flags: Flags, ...words: Words) => Promise<Printed | void>;
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

type OutputFlags = JsonOption & { readonly plain?: true };

/** A command that needs no servers, or finds them by itself. */
export function localCommand<Flags extends OutputFlags = JsonOption, Words extends readonly unknown[] = []>(
  spec: CommandSpec<LocalCall, Flags, Words> & { readonly servers?: true },
): MakeCommand {
  return (name) => {
    const examples = spec.examples.map((example) => `  $ ${example}`).join('\n');
    const command = newCommand(name)
      .description(spec.description)
      .helpOption('-h, --help', 'show this help')
      .addHelpText('after', `\nExamples:\n${examples}`)
      .option('--json', 'print JSON instead of text');
    for (const each of spec.servers === true ? serverOptions() : []) command.addOption(each);
    for (const each of spec.arguments ?? []) command.addArgument(each);
    for (const each of spec.options ?? []) command.addOption(each);
    return command.action(async (...words: Words) => {
      const flags = command.opts<Flags>();
      const output = openOutput({ plain: flags.plain === true });
      print(output, flags, await spec.run({ output }, flags, ...words));
    });
  };
}

function print(output: Output, { json }: JsonOption, printed: Printed | void): void {
  if (printed === undefined) return;
  if (json === true) return output.json(printed.json);
  output.lines(printed.lines);
  for (const remark of printed.remarks ?? []) output.remark(remark);
}

type Needs<Flags> = CommandNeeds | ((flags: Flags) => CommandNeeds);

export function clientCommand<Flags extends ConnectionFlags = ConnectionFlags, Words extends readonly unknown[] = []>({
  needs = {},
  run,
  ...spec
}: CommandSpec<ClientCall, Flags, Words> & { readonly needs?: Needs<Flags> }): MakeCommand {
  return localCommand<Flags, Words>({
    ...spec,
    servers: true,
    run: ({ output }, flags, ...words) =>
      withClient(flags, typeof needs === 'function' ? needs(flags) : needs, async (client, surroundings) => {
        // Before the client is closed: an interrupted process has no time for both.
        print(output, flags, await run({ output, client, surroundings }, flags, ...words));
      }),
  });
}

/** A command with a client that reads: Temporal may be unknown or away. */
export function readerCommand<Flags extends ConnectionFlags = ConnectionFlags, Words extends readonly unknown[] = []>(
  spec: CommandSpec<ClientCall, Flags, Words> & { readonly needs?: CommandNeeds },
): MakeCommand {
  return clientCommand<Flags, Words>({ ...spec, needs: { ...spec.needs, temporal: false } });
}

/** A command for the conversation that its first argument names. */
export function conversationCommand<
  Flags extends ConnectionFlags = ConnectionFlags,
  Words extends readonly unknown[] = [],
>({ run, ...spec }: CommandSpec<ConversationCall, Flags, Words> & { readonly needs?: Needs<Flags> }): MakeCommand {
  return clientCommand<Flags, [string, ...Words]>({
    ...spec,
    arguments: [CONVERSATION, ...(spec.arguments ?? [])],
    run: async (call, flags, reference, ...words) =>
      run({ ...call, conversationId: await findConversation(call.client, reference) }, flags, ...words),
  });
}
