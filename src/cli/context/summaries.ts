import { definedOf } from '../../context/policy/defined-of.ts';
import { conversationCommand } from '../command.ts';
import { summaryAuditLines } from '../render/lists/summary-audit.ts';
import { summaryDifferenceLines } from '../render/lists/summary-difference.ts';
import { summaryListLines } from '../render/lists/summary-list.ts';
import { UsageError } from '../usage-error.ts';
import { argument, count, option } from '../options.ts';

const summaries = conversationCommand({
  description:
    'Lists every summary, oldest first: form, trigger, preset, tokens before and after, coverage, tries, model, cost and text. --diff compares two summaries line by line, by default the newest with the one that it updates. --audit takes requirements, paths, identifiers, numbers and errors of entries that left the window. It looks for them in the summary and the window, and asks recall for the rest.',
  examples: [
    'npx holdfast summaries last',
    'npx holdfast summaries 4f1c22ab "release date" --full',
    'npx holdfast summaries last --diff 1:3',
    'npx holdfast summaries last --audit',
    'npx holdfast summaries last --lineage',
  ],
  arguments: [argument('[query]', 'only summaries whose text matches')],
  options: [
    option(
      '--full',
      'whole texts and each entry that is shown shorter; with --audit all facts, with --diff equal lines too',
    ),
    option('--lineage', 'which entries each summary covers, over all generations').conflicts(['audit', 'diff']),
    option(
      '--diff [generations]',
      'compare two generations, like 1:3 (default: the one in force with the one that it updates)',
    ),
    option('--audit', 'facts that the window no longer says, and whether recall finds them').conflicts('diff'),
    option('--limit <number>', 'with --audit: facts that recall is asked for (default: 50)', count(1, 10_000)),
  ],
  needs: { temporal: false },
  async run({ client, conversationId, output }, flags, query) {
    if (query !== undefined && (flags.audit === true || flags.diff !== undefined)) {
      throw new UsageError('usage', 'A query goes with neither --audit nor --diff.', 'Ask for one at a time.');
    }
    if (flags.audit === true) {
      const audit = await client.log.audit({ conversationId, ...definedOf({ limit: flags.limit }) });
      const { columns, style } = output;
      return { json: audit, lines: summaryAuditLines(audit, { columns, style, full: flags.full === true }) };
    }
    if (flags.diff !== undefined) {
      const found = await client.log.summaryDifference({ conversationId, ...pairIn(flags.diff) });
      const { style } = output;
      return { json: found, lines: summaryDifferenceLines(found, { style, full: flags.full === true }) };
    }
    const found = await (query === undefined
      ? client.log.summaries({ conversationId })
      : client.log.searchSummaries({ conversationId, query }));
    const { columns, style } = output;
    const { full = false, lineage: showLineage = false } = flags;
    const lineage = full || showLineage ? await client.log.lineage({ conversationId }) : undefined;
    const none =
      query === undefined ? 'Nothing was compacted yet: the window still holds everything.' : 'No summary matches.';
    return {
      json: { conversationId, summaries: found, ...definedOf({ lineage }) },
      lines:
        found.length === 0
          ? [none]
          : summaryListLines(found, { columns, style, full, showLineage, lineage: lineage ?? [] }),
    };
  },
});

export const commands = { summaries };

/** @returns generations to compare; without a text those that the client chooses */
function pairIn(generations: string | true): { readonly older?: number; readonly newer?: number } {
  if (generations === true) return {};
  const match = /^(\d+):(\d+)$/u.exec(generations);
  if (match !== null) return { older: Number(match[1]), newer: Number(match[2]) };
  throw new UsageError('usage', `--diff ${JSON.stringify(generations)} names no two generations.`, 'Write --diff 1:3.');
}
