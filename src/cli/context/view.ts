import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { ModelCallAddress } from '../../client/types.ts';
import { withReader } from '../connect.ts';
import { count } from '../count-option.ts';
import { findConversation } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { callListLines, viewLines } from '../render/lists/view-lines.ts';

interface ViewFlags extends ConnectionFlags {
  readonly at?: ModelCallAddress;
  readonly calls?: true;
  readonly limit: number;
}

const DEFAULT_LIMIT = 100;

/** `holdfast view`: what the model saw at a call. */
export function viewCommand(): Command {
  return withConnections(
    holdfastCommand('view', {
      description:
        'Rebuilds the request of a model call from the log, with the compactions of that time, and says whether it is the one that was sent, byte for byte: the fingerprint of each request is kept.',
      examples: ['npx holdfast view last', 'npx holdfast view last --at 12', 'npx holdfast view 4f1c22ab --calls'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .option(
      '--at <call>',
      'call of the newest turn that made it, as `12`, or with its turn, as `2.12`, and its try, as `2.12.1` (default: the newest)',
      readAddress,
    )
    .option('--calls', 'list the calls instead')
    .option('--limit <number>', 'with --calls: newest calls to list', count(1, 10_000), DEFAULT_LIMIT)
    .action(view);
}

/** @throws InvalidArgumentError */
function readAddress(text: string): ModelCallAddress {
  const numbers = text.split('.').map(Number);
  const isAddress = /^[0-9]+(?:\.[0-9]+){0,2}$/u.test(text) && numbers.every((number) => number >= 1);
  if (!isAddress) throw new InvalidArgumentError('It takes a call as `12`, `<turn>.12` or `<turn>.12.<try>`.');
  const [first = 1, second, attempt] = numbers;
  if (second === undefined) return { callNumber: first };
  return { turn: first, callNumber: second, ...(attempt !== undefined && { attempt }) };
}

async function view(reference: string, flags: ViewFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const { style } = output;
    if (flags.calls === true) {
      const { items: calls, hasMore } = await client.log.modelCalls({ conversationId, limit: flags.limit });
      if (flags.json === true) output.json({ conversationId, calls, hasMore });
      else if (calls.length === 0) output.line('The model was not called yet.');
      else output.lines(callListLines(calls, { style }));
      if (hasMore && flags.json !== true) output.remark(`There are earlier ones: --limit ${flags.limit * 5}`);
      return;
    }
    const past = await client.log.view({ conversationId, ...flags.at });
    if (flags.json === true) output.json({ conversationId, ...past });
    else output.lines(viewLines(past, { style }));
  });
}
