import { definedOf } from '../../context/policy/defined-of.ts';
import { readerCommand } from '../command.ts';
import { tenantOption } from '../holdfast-command.ts';
import { formatAge } from '../render/text/numbers.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';
import type { Column } from '../render/text/table.ts';
import { argument, count, option } from '../options.ts';

const MOST = 500;

const COLUMNS: readonly Column[] = [
  { title: 'memory' },
  { title: 'of' },
  { title: 'kind' },
  { title: 'text', flexible: true },
  { title: 'age', align: 'right' },
];

const list = readerCommand({
  description: 'Lists current memories, newest first, with the agent, user or workspace that shares them.',
  examples: ['npx holdfast memory list', 'npx holdfast memory list --scope user --of ada --json'],
  options: [
    tenantOption(),
    option('--scope <scope>', 'only of this scope', ['agent', 'user', 'workspace']),
    option('--of <name>', 'only of this agent or user, or of the workspace with this path'),
    option('--all', 'also those that were superseded or have expired'),
    option('--limit <number>', `memories to list, at most ${MOST}`, count(1, MOST), 100),
  ],
  async run({ client, output }, { scope, of: name, all, limit }) {
    const { items: memories, hasMore } = await client.memory.list({ limit, ...definedOf({ scope, name, all }) });
    const rows = memories.map((memory) => [
      memory.id,
      `${memory.scope} ${safeLine(memory.scopeName)}`,
      memory.kind,
      safeLine(memory.text),
      formatAge(memory.createdAt, Date.now()),
    ]);
    return {
      json: { memories, hasMore },
      lines: rows.length === 0 ? ['No memory.'] : tableLines(COLUMNS, rows, output),
      remarks: hasMore ? [`There are more: --limit ${Math.min(MOST, limit * 5)}`] : [],
    };
  },
});

const forget = readerCommand({
  description:
    'Deletes a memory for good, and those that it replaced. The conversation that it comes from keeps its entries.',
  examples: ['npx holdfast memory forget 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab'],
  arguments: [argument('<memory>', 'its id, as `holdfast memory list` prints it')],
  options: [tenantOption()],
  async run({ client }, _flags, memoryId) {
    await client.memory.forget({ memoryId });
    return { json: { memoryId, forgotten: true }, lines: ['Forgotten.'] };
  },
});

export const commands = { list, forget };
