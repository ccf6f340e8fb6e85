import type { Command } from 'commander';
import { withReader } from './connect.ts';
import { count } from './count-option.ts';
import { holdfastCommand, tenantOption, withConnections } from './holdfast-command.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { conversationListLines } from './render/conversation-list.ts';

interface ListFlags extends ConnectionFlags {
  readonly limit: number;
}

const DEFAULT_LIMIT = 20;
const MOST = 500;

/** `holdfast list`: conversations, newest first. */
export function listCommand(): Command {
  return withConnections(
    holdfastCommand('list', {
      summary: 'list conversations, newest first',
      examples: ['npx holdfast list', 'npx holdfast list --limit 100 --json | jq -r ".conversations[].conversationId"'],
    }),
  )
    .addOption(tenantOption())
    .option('--limit <number>', `conversations to list, at most ${MOST}`, count(1, MOST), DEFAULT_LIMIT)
    .action(list);
}

async function list(flags: ListFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const { items: conversations, hasMore } = await client.conversation.list({ limit: flags.limit });
    if (flags.json === true) output.json({ conversations, hasMore });
    else if (conversations.length === 0) output.line('No conversation yet. Start one: npx holdfast start "<task>"');
    else {
      const { style } = output;
      output.lines(conversationListLines(conversations, { columns: output.columns(), style, now: Date.now() }));
      if (hasMore) output.remark(`There are more: --limit ${Math.min(MOST, flags.limit * 5)}`);
    }
  });
}
