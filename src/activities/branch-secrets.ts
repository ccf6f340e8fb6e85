import type { BranchItem } from '../context/branch-summary.ts';
import { textOf } from '../context/content.ts';
import type { LeftBranch, NewBranchSummary } from '../store/change-branch.ts';
import { redactSecrets } from '../tools/redact-secrets.ts';
import { withoutSecrets } from '../tools/restated-secrets.ts';
import { newText } from './new-content.ts';
import { redactedOriginals } from './redacted-originals.ts';
import { secretsOfEntries } from './said-secrets.ts';

/**
 * What a tool printed of a key must not come back as memory.
 * @param left what the summary was made from, when it is new
 */
export async function redactedSummary(
  summary: NewBranchSummary | null,
  left?: LeftBranch,
): Promise<NewBranchSummary | null> {
  if (summary === null) return null;
  const found = await redactSecrets(textOf(summary.content));
  const restated = withoutSecrets(found.text, await secretsOfBranch(left, found.text));
  const count = found.count + restated.count;
  if (count === 0) return summary;
  const { input, output } = summary.redacted ?? { input: 0, output: 0 };
  return { ...summary, ...newText(restated.text), redacted: { input, output: output + count } };
}

/** What is quoted of a branch, without secrets before it is cut. */
export async function redactedItems(
  items: readonly BranchItem[],
  left: LeftBranch,
): Promise<{ readonly items: readonly BranchItem[]; readonly leftOut: number }> {
  const originals = items.map(({ entry }) => entry);
  const { entries, count } = await redactedOriginals(originals, (text) => secretsOfBranch(left, text));
  return { items: items.map((item, index) => ({ ...item, entry: entries[index] ?? item.entry })), leftOut: count };
}

/** What a tool returned there tells of a secret too. */
async function secretsOfBranch(left: LeftBranch | undefined, text: string): Promise<ReadonlySet<string>> {
  return secretsOfEntries(text, [(left?.items ?? []).map(({ entry }) => entry)]);
}
