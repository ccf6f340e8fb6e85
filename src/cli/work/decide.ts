import { Option } from 'commander';
import type { Command } from 'commander';
import type { SentDecision } from '../../client/types.ts';
import type { Holdfast } from '../../client/holdfast.ts';

import { withClient } from '../connect.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { CommandTexts, ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { readText } from '../read-text.ts';
import { questionIn } from '../render/turn/decision-state.ts';
import { plural } from '../render/text/numbers.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { rulesWords } from '../render/turn/waiting-call.ts';
import { displayWidth, truncate } from '../render/text/text-width.ts';
import { shortArguments } from '../render/turn/tool-arguments.ts';

interface DecideFlags extends ConnectionFlags {
  readonly for: 'call' | 'turn' | 'agent';
  readonly reason?: string;
}

interface AnswerFlags extends ConnectionFlags {
  readonly call?: string;
}

const CALL_ARGUMENT = ['[call]', 'which call, as `holdfast show` names it (default: the only one that waits)'] as const;

const REACH = { call: '', turn: 'this turn', agent: 'this agent' } as const;

const DECIDED = { approve: 'Approved', deny: 'Denied', answer: 'Answered' } as const;

const PIPE_COLUMNS = 160;
const SHORTEST_ARGUMENTS = 20;

/** `holdfast approve`: lets a tool call run that waits for it. */
export function approveCommand(): Command {
  return decisionCommand('approve', {
    description:
      'Allows a tool call that waits for approval. `holdfast show` lists the calls that wait, with their arguments. With --for turn or agent the decision stands for the rules that `holdfast show` names with the call: calls under no other rule are decided with it, waiting and later ones; `holdfast approvals` lists and ends those of agents. Works with no worker alive: the turn goes on when one runs.',
    examples: ['npx holdfast approve last', 'npx holdfast approve 4f1c22ab 3.2.0 --for turn'],
  });
}

/** `holdfast deny`: refuses a tool call that waits. */
export function denyCommand(): Command {
  return decisionCommand('deny', {
    description:
      'Refuses a tool call that waits for approval: it does not run, the model reads the refusal with the reason, and the turn goes on.',
    examples: ['npx holdfast deny last --reason "not in production"', 'npx holdfast deny 4f1c22ab 3.2.1 --for agent'],
  });
}

function decisionCommand(verb: 'approve' | 'deny', texts: CommandTexts): Command {
  return withConnections(holdfastCommand(verb, texts))
    .argument(...CONVERSATION_ARGUMENT)
    .argument(...CALL_ARGUMENT)
    .option('--reason <text>', 'why; a denial shows it to the model')
    .addOption(
      new Option('--for <reach>', 'how far it reaches: `call`, `turn` or `agent`')
        .choices(Object.keys(REACH))
        .default('call'),
    )
    .action(async (reference: string, call: string | undefined, flags: DecideFlags) => {
      await decide(verb, reference, flags, async (client, conversationId) =>
        client.decisions[verb]({
          conversationId,
          for: flags.for,
          ...(call !== undefined && { call }),
          ...(flags.reason !== undefined && { reason: flags.reason }),
        }),
      );
    });
}

/** `holdfast answer`: answers a question of the model. */
export function answerCommand(): Command {
  return withConnections(
    holdfastCommand('answer', {
      description:
        'Answers a question that the agent asked with the tool ask_user; the turn goes on with the answer. Works with no worker alive.',
      examples: ['npx holdfast answer last "The second one"', 'cat notes.md | npx holdfast answer 4f1c22ab -'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('<answer>', 'what to say; `-` reads it from standard input')
    .option('--call <call>', 'which question, as `holdfast show` names it (default: the only one that waits)')
    .action(async (reference: string, argument: string, flags: AnswerFlags) => {
      const text = await readText(argument, 'answer');
      await decide('answer', reference, { ...flags, for: 'call' }, async (client, conversationId) =>
        client.decisions.answer({ conversationId, text, ...(flags.call !== undefined && { call: flags.call }) }),
      );
    });
}

async function decide(
  verb: keyof typeof DECIDED,
  reference: string,
  flags: DecideFlags,
  send: (client: Holdfast, conversationId: string) => Promise<SentDecision>,
): Promise<void> {
  const output = openOutput();
  await withClient(flags, {}, async (client) => {
    const conversationId = await findConversation(client, reference);
    const sent = await send(client, conversationId);
    if (flags.json === true) {
      output.json(sent);
      return;
    }
    output.lines([
      decidedLine(verb, sent, flags.for, output.columns() ?? PIPE_COLUMNS),
      ...(sent.decided > 1 ? [`${sent.decided} waiting calls were decided with it.`] : []),
      await restLine(client, conversationId),
      `  watch it: npx holdfast watch ${shortId(conversationId)}`,
    ]);
  });
}

/** What was decided, so that nobody is mistaken unnoticed. */
function decidedLine(
  verb: keyof typeof DECIDED,
  { call, tool, arguments: json, rules }: SentDecision,
  reach: DecideFlags['for'],
  columns: number,
): string {
  const others = reach === 'call' ? '' : ` and all calls of ${REACH[reach]} under ${rulesWords(rules, 'or')}`;
  const head = `${DECIDED[verb]} call ${call}${others}: `;
  if (verb === 'answer') return truncate(`${head}${safeLine(questionIn(json))}`, columns);
  const shown = `${head}${safeLine(tool)} `;
  return `${shown}${shortArguments(json, Math.max(SHORTEST_ARGUMENTS, columns - displayWidth(shown)))}`.trimEnd();
}

async function restLine(client: Holdfast, conversationId: string): Promise<string> {
  const { waitingCalls } = await client.conversation.get({ conversationId });
  return waitingCalls.length > 0
    ? `The turn waits for ${plural(waitingCalls.length, 'more decision')}.`
    : 'It is stored; the turn goes on once a worker serves it.';
}
