import { definedOf } from '../../context/policy/defined-of.ts';
import { conversationCommand } from '../command.ts';
import { shortId } from '../find-conversation.ts';
import { amount, option } from '../options.ts';

const resume = conversationCommand({
  description:
    'Continues the task of a turn that ended early: at a limit, by a stop, by a failure. The new turn may use what the last one left, plus the raises that you name. If a limit of the conversation is reached, its raise stays in force. An idle limit needs no raise.',
  examples: ['npx holdfast resume last --cost +2', 'npx holdfast resume 4f1c22ab --steps +100 --wall-time +600'],
  options: [
    option('--steps <number>', 'that many more model calls, as +50', amount),
    option('--tool-calls <number>', 'that many more tool calls', amount),
    option('--input-tokens <number>', 'that many more input tokens', amount),
    option('--output-tokens <number>', 'that many more output tokens', amount),
    option('--cost <dollars>', 'that many dollars more, as +2', amount),
    option('--wall-time <seconds>', 'that many seconds more', amount),
    option(
      '--idle-time <seconds>',
      'that many seconds more of rest between turns (limits.conversation.idleTime)',
      amount,
    ),
  ],
  async run({ client, conversationId }, flags) {
    const { steps, toolCalls, inputTokens, outputTokens, cost, wallTime, idleTime } = flags;
    const raise = definedOf({ steps, toolCalls, inputTokens, outputTokens, cost, wallTime, idleTime });
    const { messageId } = await client.conversation.resume({ conversationId, raise });
    return {
      json: { conversationId, messageId },
      lines: [
        'It is stored; the task goes on in a new turn once a worker serves it.',
        `  watch it: npx holdfast watch ${shortId(conversationId)}`,
      ],
    };
  },
});

export const commands = { resume };
