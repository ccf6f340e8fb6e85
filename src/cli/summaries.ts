import type { Command } from 'commander';
import type { StoredSummary } from '../client/types.ts';
import { findDatabaseUrl, withReader } from './connect.ts';
import { count } from './count-option.ts';
import { findConversation } from './find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from './holdfast-command.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import type { Output } from './output.ts';
import { summaryAuditLines } from './render/summary-audit.ts';
import { summaryDifferenceLines } from './render/summary-difference.ts';
import { summaryListLines } from './render/summary-list.ts';
import { UsageError } from './usage-error.ts';

interface SummariesFlags extends ConnectionFlags {
  readonly full?: true;
  readonly lineage?: true;
  /** `true`: the newest two. */
  readonly diff?: true | string;
  readonly audit?: true;
  readonly limit: number;
}

const DEFAULT_LIMIT = 200;

/** `holdfast summaries`: every compaction of a conversation. */
export function summariesCommand(): Command {
  return withConnections(
    holdfastCommand('summaries', {
      summary: 'list the compactions of a conversation with their summaries',
      description:
        'Lists every generation, oldest first: form, trigger, preset, tokens before and after, what it covers, tries, model and cost, its text. --diff compares two generations line by line. --audit looks for facts of the originals that left the window or are shown shorter (requirements, paths, identifiers, numbers, errors) in the summary in force and in what else the window shows, and asks recall for those that neither says. The originals stay and are found with `holdfast recall`.',
      examples: [
        'npx holdfast summaries last',
        'npx holdfast summaries 4f1c22ab "release date" --full',
        'npx holdfast summaries last --diff 1:3',
        'npx holdfast summaries last --audit',
        'npx holdfast summaries last --lineage',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('[query]', 'only summaries whose text matches')
    .option('--full', 'whole texts and each entry that is shown shorter; with --audit all facts')
    .option('--lineage', 'which entries each summary covers, over all generations')
    .option('--diff [generations]', 'compare two generations, like 1:3 (default: the newest two)')
    .option('--audit', 'facts that the window no longer says, and whether recall finds them')
    .option('--limit <number>', 'with --audit: facts that recall is asked for', count(1, 10_000), DEFAULT_LIMIT)
    .action(summaries);
}

async function summaries(reference: string, query: string | undefined, flags: SummariesFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    if (flags.audit === true) return audit(conversationId, flags, output);
    const found = await client.listSummaries({ conversationId, ...(query !== undefined && { query }) });
    if (flags.diff !== undefined) return difference(found, flags, output);
    const { style } = output;
    const isWanted = flags.lineage === true || flags.full === true;
    const lineage = isWanted ? await client.readLineage(conversationId) : [];
    if (flags.json === true) output.json({ conversationId, summaries: found, ...(isWanted && { lineage }) });
    else if (found.length > 0)
      output.lines(
        summaryListLines(found, {
          columns: output.columns(),
          style,
          full: flags.full === true,
          lineage,
          showLineage: flags.lineage === true,
        }),
      );
    else
      output.line(
        query === undefined ? 'Nothing was compacted yet: the window still holds everything.' : 'No summary matches.',
      );
  });
}

function difference(all: readonly StoredSummary[], flags: SummariesFlags, output: Output): void {
  const written = all.filter(({ text }) => text !== null);
  const [older, newer] = typeof flags.diff === 'string' ? namedPair(written, flags.diff) : written.slice(-2);
  if (older === undefined || newer === undefined) {
    throw new UsageError(
      'usage',
      `Two summaries are needed to compare, and the conversation has ${written.length === 0 ? 'none' : 'one'}.`,
      '`npx holdfast summaries <conversation>` lists them.',
    );
  }
  if (flags.json === true) output.json({ older, newer });
  else output.lines(summaryDifferenceLines(older, newer, output.style));
}

function namedPair(written: readonly StoredSummary[], generations: string): (StoredSummary | undefined)[] {
  const match = /^(\d+):(\d+)$/u.exec(generations);
  if (match === null) {
    throw new UsageError(
      'usage',
      `--diff ${JSON.stringify(generations)} names no two generations.`,
      'Write --diff 1:3.',
    );
  }
  const [, ...numbers] = match;
  return numbers.map((number) => {
    const found = written.find(({ generation }) => generation === Number(number));
    if (found !== undefined) return found;
    const known = written.map(({ generation }) => generation).join(', ');
    throw new UsageError('usage', `Generation ${number} has no summary.`, `Those that have one: ${known || 'none'}.`);
  });
}

async function audit(conversationId: string, flags: SummariesFlags, output: Output): Promise<void> {
  const [{ auditSummaries }, { connectDatabase }] = await Promise.all([
    import('../lab/audit/audit-summaries.ts'),
    import('../store/database.ts'),
  ]);
  const database = connectDatabase({ url: await findDatabaseUrl(flags), applicationName: 'holdfast-audit' });
  try {
    const found = await auditSummaries(database, conversationId, { limit: flags.limit });
    if (flags.json === true) output.json(found);
    else
      output.lines(
        summaryAuditLines(found, { columns: output.columns(), style: output.style, full: flags.full === true }),
      );
  } finally {
    await database.end({ timeout: 1 });
  }
}
