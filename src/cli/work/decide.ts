import { definedOf } from '../../context/policy/defined-of.ts';
import { userOfMachine } from '../../client/decision-methods.ts';
import type { SentDecision } from '../../client/types.ts';
import { conversationCommand } from '../command.ts';
import type { CommandTexts, ConversationCall, MakeCommand, Printed } from '../command.ts';
import { shortId } from '../find-conversation.ts';
import { readText, textArgument } from '../read-text.ts';
import { plural } from '../render/text/numbers.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { displayWidth, truncate } from '../render/text/text-width.ts';
import { questionIn } from '../render/turn/decision-state.ts';
import { shortArguments } from '../render/turn/tool-arguments.ts';
import { rulesWords } from '../render/turn/waiting-call.ts';
import { argument, option } from '../options.ts';

const REACH = { call: '', turn: 'this turn', agent: 'this agent' } as const;

const DECIDED = { approve: 'Approved', deny: 'Denied', answer: 'Answered' } as const;

const PIPE_COLUMNS = 160;
const SHORTEST_ARGUMENTS = 20;

const approve = judgeCommand('approve', {
  description:
    'Allows a tool call that waits for approval. `holdfast show` lists waiting calls with their arguments and rules. With --for turn or agent the decision covers these rules: it also decides waiting and later calls that fall under no other rule. `holdfast approvals` lists and ends decisions for agents. Needs no worker: the turn goes on when one runs.',
  examples: ['npx holdfast approve last', 'npx holdfast approve 4f1c22ab 3.2.0 --for turn'],
});

const deny = judgeCommand('deny', {
  description:
    'Refuses a tool call that waits for approval. The call does not run, the model reads the refusal with its reason, and the turn goes on.',
  examples: ['npx holdfast deny last --reason "not in production"', 'npx holdfast deny 4f1c22ab 3.2.1 --for agent'],
});

function judgeCommand(verb: 'approve' | 'deny', texts: CommandTexts): MakeCommand {
  return conversationCommand({
    ...texts,
    arguments: [argument('[call]', 'which call, as `holdfast show` names it (default: the only one that waits)')],
    options: [
      option('--reason <text>', 'why; a denial shows it to the model'),
      option('--for <reach>', 'how far it reaches: `call`, `turn` or `agent`', ['call', 'turn', 'agent'], 'call'),
    ],
    async run(open, { for: reach, reason }, call) {
      const { client, conversationId } = open;
      const decision = { conversationId, for: reach, ...definedOf({ call, reason, decidedBy: userOfMachine() }) };
      return decided(open, verb, await client.decisions[verb](decision), reach);
    },
  });
}

const answer = conversationCommand({
  description: 'Answers a question that the agent asked with the tool ask_user, and the turn goes on. Needs no worker.',
  examples: ['npx holdfast answer last "The second one"', 'cat notes.md | npx holdfast answer 4f1c22ab -'],
  arguments: [textArgument('<answer>', 'what to say; `-` reads it from standard input', 'answer')],
  options: [option('--call <call>', 'which question, as `holdfast show` names it (default: the only one that waits)')],
  async run(open, { call }, words) {
    const { client, conversationId } = open;
    const text = await readText(words, 'answer');
    const decision = { conversationId, text, ...definedOf({ call, decidedBy: userOfMachine() }) };
    return decided(open, 'answer', await client.decisions.answer(decision));
  },
});

export const commands = { approve, deny, answer };

async function decided(
  { client, conversationId, output }: ConversationCall,
  verb: keyof typeof DECIDED,
  sent: SentDecision,
  reach: keyof typeof REACH = 'call',
): Promise<Printed> {
  const { waitingCalls, agent } = await client.conversation.get({ conversationId });
  const isServed = (await client.models.listAgents()).includes(agent);
  return {
    json: sent,
    lines: [
      decidedLine(verb, sent, reach, output.columns ?? PIPE_COLUMNS),
      ...(sent.decided > 1 ? [`${sent.decided} waiting calls were decided with it.`] : []),
      waitingCalls.length > 0
        ? `The turn waits for ${plural(waitingCalls.length, 'more decision')}.`
        : `It is stored; the turn goes on${isServed ? '' : ' once a worker serves it'}.`,
      `  watch it: npx holdfast watch ${shortId(conversationId)}`,
    ],
  };
}

/** What was decided, so that nobody is mistaken unnoticed. */
function decidedLine(
  verb: keyof typeof DECIDED,
  { call, tool, arguments: json, rules }: SentDecision,
  reach: keyof typeof REACH,
  columns: number,
): string {
  const others = reach === 'call' ? '' : ` and all calls of ${REACH[reach]} under ${rulesWords(rules, 'or')}`;
  const head = `${DECIDED[verb]} call ${call}${others}: `;
  if (verb === 'answer') return truncate(`${head}${safeLine(questionIn(json))}`, columns);
  const shown = `${head}${safeLine(tool)} `;
  return `${shown}${shortArguments(json, Math.max(SHORTEST_ARGUMENTS, columns - displayWidth(shown)))}`.trimEnd();
}
