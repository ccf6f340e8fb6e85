import type { BranchItem } from '../../context/summary/branch-summary.ts';
import { textOf } from '../../context/log/content.ts';
import type { Entry } from '../../context/log/entry.ts';
import type { NewBranchSummary } from '../../store/conversations/change-branch.ts';
import type { Database } from '../../store/database/database.ts';
import { readLeftBranch } from '../../store/conversations/left-branch.ts';
import type { LeftBranch } from '../../store/conversations/left-branch.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { withoutSecrets } from '../../tools/runtime/restated-secrets.ts';
import { newText } from '../runtime/new-content.ts';
import { redactedOriginals } from '../compaction/redacted-originals.ts';
import { secretsOfEntries } from '../compaction/said-secrets.ts';

/**
 * What a tool printed of a key must not come back as memory.
 * @param left what the summary was made from, when it is new
 */
export async function redactedSummary(
  sql: Database,
  summary: NewBranchSummary | null,
  left?: LeftBranch,
): Promise<NewBranchSummary | null> {
  if (summary === null) return null;
  const found = await redactSecrets(textOf(summary.content));
  const restated = withoutSecrets(found.text, await secretsOfBranch(sql, left, found.text));
  const count = found.count + restated.count;
  if (count === 0) return summary;
  const { input, output } = summary.redacted ?? { input: 0, output: 0 };
  return { ...summary, ...newText(restated.text), redacted: { input, output: output + count } };
}

/** What is quoted of a branch, without secrets before it is cut. */
export async function redactedItems(
  sql: Database,
  items: readonly BranchItem[],
  left: LeftBranch,
): Promise<{ readonly items: readonly BranchItem[]; readonly leftOut: number }> {
  const originals = items.map(({ entry }) => entry);
  const { entries, count } = await redactedOriginals(originals, (text) => secretsOfBranch(sql, left, text));
  return { items: items.map((item, index) => ({ ...item, entry: entries[index] ?? item.entry })), leftOut: count };
}

/** What a tool returned there tells of a secret too, and what did not fit: all of the branch is looked through, page by page. */
async function secretsOfBranch(
  sql: Database,
  left: LeftBranch | undefined,
  text: string,
): Promise<ReadonlySet<string>> {
  return secretsOfEntries(text, left === undefined ? [] : readEntries(sql, left));
}

async function* readEntries(sql: Database, left: LeftBranch): AsyncGenerator<readonly Entry[], void, undefined> {
  for await (const items of readLeftBranch(sql, left)) yield items.map(({ entry }) => entry);
}
