import { isDivisible } from '../../turn/spending.ts';
import type { ConversationCounts, CountedOfConversation } from '../../turn/spending.ts';
import { conversationCommand, option } from '../command.ts';
import { shortId } from '../find-conversation.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { UsageError } from '../usage-error.ts';

const OPTIONS: readonly (readonly [counted: CountedOfConversation, flags: string, description: string])[] = [
  ['steps', '--steps <number>', 'that many more model calls, as +50'],
  ['toolCalls', '--tool-calls <number>', 'that many more tool calls'],
  ['inputTokens', '--input-tokens <number>', 'that many more input tokens'],
  ['outputTokens', '--output-tokens <number>', 'that many more output tokens'],
  ['cost', '--cost <dollars>', 'that many dollars more, as +2'],
  ['wallTime', '--wall-time <seconds>', 'that many seconds more'],
  ['idleTime', '--idle-time <seconds>', 'that many seconds more of rest between turns (limits.conversation.idleTime)'],
];

const resume = conversationCommand<ConnectionFlags & Partial<ConversationCounts>>({
  description:
    'Continues the task of a turn that ended early: at a limit, by a stop, by a failure. The new turn may use what the last one left, plus the raises that you name. If a limit of the conversation is reached, its raise stays in force. An idle limit needs no raise.',
  examples: ['npx holdfast resume last --cost +2', 'npx holdfast resume 4f1c22ab --steps +100 --wall-time +600'],
  options: OPTIONS.map(([counted, flags, description]) =>
    option(flags, description, isDivisible(counted) ? amount : wholeAmount),
  ),
  async run({ client, conversationId }, flags) {
    const raise = Object.fromEntries(
      OPTIONS.flatMap(([counted]) => (flags[counted] === undefined ? [] : [[counted, flags[counted]]])),
    );
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

function amount(text: string): number {
  const value = Number(text.replace(/^\+/u, ''));
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new UsageError('usage', `"${text}" is no amount.`, 'Give a number above 0, as +2.');
  }
  return value;
}

function wholeAmount(text: string): number {
  const value = amount(text);
  if (Number.isInteger(value)) return value;
  throw new UsageError('usage', `"${text}" is no whole number.`, 'Give one above 0, as +2.');
}
