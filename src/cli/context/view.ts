import { InvalidArgumentError } from 'commander';
import type { ModelCallAddress } from '../../client/types.ts';
import { conversationCommand } from '../command.ts';
import { callListLines, viewLines } from '../render/lists/view-lines.ts';
import { count, option } from '../options.ts';

const view = conversationCommand({
  description:
    'Rebuilds the request of a model call from the log, as it was at that time. Says whether it is the request that was sent, byte for byte, by a stored fingerprint.',
  examples: ['npx holdfast view last', 'npx holdfast view last --at 12', 'npx holdfast view 4f1c22ab --calls'],
  options: [
    option(
      '--at <call>',
      'call of the newest turn that made it, as `12`, or with its turn, as `2.12`, and its try, as `2.12.1` (default: the newest)',
      readAddress,
    ),
    option('--calls', 'list the calls instead'),
    option('--limit <number>', 'with --calls: newest calls to list', count(1, 10_000), 100),
  ],
  needs: { temporal: false },
  async run({ client, conversationId, output }, { at, calls: listsCalls = false, limit }) {
    if (!listsCalls) {
      const past = await client.log.view({ conversationId, ...at });
      return { json: { conversationId, ...past }, lines: viewLines(past, output) };
    }
    const { items: calls, hasMore } = await client.log.modelCalls({ conversationId, limit });
    return {
      json: { conversationId, calls, hasMore },
      lines: calls.length === 0 ? ['The model was not called yet.'] : callListLines(calls, output),
      remarks: hasMore ? [`There are earlier ones: --limit ${limit * 5}`] : [],
    };
  },
});

export const commands = { view };

/** @throws InvalidArgumentError */
function readAddress(text: string): ModelCallAddress {
  const numbers = text.split('.').map(Number);
  const isAddress = /^[0-9]+(?:\.[0-9]+){0,2}$/u.test(text) && numbers.every((number) => number >= 1);
  if (!isAddress) throw new InvalidArgumentError('It takes a call as `12`, `<turn>.12` or `<turn>.12.<try>`.');
  const [first = 1, second, attempt] = numbers;
  if (second === undefined) return { callNumber: first };
  return { turn: first, callNumber: second, ...(attempt !== undefined && { attempt }) };
}
