import { Option } from 'commander';
import type { Command } from 'commander';
import { withReader } from '../connect.ts';
import { count } from '../count-option.ts';
import { holdfastCommand, tenantOption, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { formatAge } from '../render/text/numbers.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';

interface MemoryListFlags extends ConnectionFlags {
  readonly scope?: 'agent' | 'user' | 'workspace';
  readonly of?: string;
  readonly all?: true;
  readonly limit: number;
}

const MOST = 500;

/** `holdfast memory list`: what agents remember. */
export function memoryListCommand(): Command {
  return withConnections(
    holdfastCommand('list', {
      description:
        'Lists memories that are in force, newest first, with the agent, user or workspace that shares them.',
      examples: ['npx holdfast memory list', 'npx holdfast memory list --scope user --of ada --json'],
    }),
  )
    .addOption(tenantOption())
    .addOption(new Option('--scope <scope>', 'only of this scope').choices(['agent', 'user', 'workspace']))
    .option('--of <name>', 'only of this agent or user, or of the workspace with this path')
    .option('--all', 'also those that were superseded or have expired')
    .option('--limit <number>', `memories to list, at most ${MOST}`, count(1, MOST), 100)
    .action(list);
}

async function list({ scope, of: name, all, limit, ...flags }: MemoryListFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const { items: memories, hasMore } = await client.memory.list({
      limit,
      ...(scope !== undefined && { scope }),
      ...(name !== undefined && { name }),
      ...(all !== undefined && { all }),
    });
    if (flags.json === true) return output.json({ memories, hasMore });
    if (memories.length === 0) return output.line('No memory.');
    const now = Date.now();
    const rows = memories.map((memory) => [
      memory.id,
      `${memory.scope} ${safeLine(memory.scopeName)}`,
      memory.kind,
      safeLine(memory.text),
      formatAge(memory.createdAt, now),
    ]);
    const columns = [
      { title: 'memory' },
      { title: 'of' },
      { title: 'kind' },
      { title: 'text', flexible: true as const },
      { title: 'age', align: 'right' as const },
    ];
    output.lines(tableLines(columns, rows, { columns: output.columns(), style: output.style }));
    if (hasMore) output.remark(`There are more: --limit ${Math.min(MOST, limit * 5)}`);
  });
}

/** `holdfast memory forget`: deletes a memory. */
export function forgetCommand(): Command {
  return withConnections(
    holdfastCommand('forget', {
      description:
        'Deletes a memory for good, and those whose place it had taken. The conversation that it was learned in keeps what was said.',
      examples: ['npx holdfast memory forget 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab'],
    }),
  )
    .argument('<memory>', 'its id, as `holdfast memory list` prints it')
    .addOption(tenantOption())
    .action(async (memoryId: string, flags: ConnectionFlags) => {
      const output = openOutput();
      await withReader(flags, async (client) => {
        await client.memory.forget({ memoryId });
        if (flags.json === true) output.json({ memoryId, forgotten: true });
        else output.line('Forgotten.');
      });
    });
}
