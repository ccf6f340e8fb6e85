import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { definedOf } from '../../context/policy/defined-of.ts';
import { withReader } from '../connect.ts';
import { count } from '../count-option.ts';
import { holdfastCommand, tenantOption, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { conversationListLines } from '../render/lists/conversation-list.ts';

interface ListFlags extends ConnectionFlags {
  readonly limit: number;
  readonly state?: 'working' | 'waiting' | 'idle';
  readonly agent?: string;
  readonly since?: string;
}

const DEFAULT_LIMIT = 20;
const MOST = 500;

/** `holdfast list`: conversations, newest first. */
export function listCommand(): Command {
  return withConnections(
    holdfastCommand('list', {
      description: 'List conversations, newest first.',
      examples: [
        'npx holdfast list',
        'npx holdfast list --state working --since 12h',
        'npx holdfast list --limit 100 --json | jq -r ".conversations[].conversationId"',
      ],
    }),
  )
    .addOption(tenantOption())
    .addOption(
      new Option(
        '--state <state>',
        '`working`: a turn runs; `waiting`: messages wait for one; `idle`: neither',
      ).choices(['working', 'waiting', 'idle']),
    )
    .option('--agent <name>', 'only of this agent')
    .option('--since <time>', 'only those that were active since: an ISO time, or 30m, 12h, 7d', since)
    .option('--limit <number>', `conversations to list, at most ${MOST}`, count(1, MOST), DEFAULT_LIMIT)
    .action(list);
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** @throws InvalidArgumentError */
function since(text: string): string {
  const [, number, unit] = /^(\d+)([mhd])$/u.exec(text) ?? [];
  const time =
    unit === 'm' || unit === 'h' || unit === 'd' ? Date.now() - Number(number) * UNITS[unit] : Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError('It takes an ISO time such as 2026-01-31, or 30m, 12h, 7d.');
  return new Date(time).toISOString();
}

async function list({ limit, state, agent, since: after, ...flags }: ListFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const { items: conversations, hasMore } = await client.conversation.list({
      limit,
      ...definedOf({ state, agent, since: after }),
    });
    if (flags.json === true) output.json({ conversations, hasMore });
    else if (conversations.length === 0) output.line('No such conversation. Start one: npx holdfast start "<task>"');
    else {
      const { style } = output;
      output.lines(conversationListLines(conversations, { columns: output.columns(), style, now: Date.now() }));
      if (hasMore) output.remark(`There are more: --limit ${Math.min(MOST, limit * 5)}`);
    }
  });
}
