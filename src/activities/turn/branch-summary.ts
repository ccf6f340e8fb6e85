import { textOf } from '../../context/log/content.ts';
import type { Entry } from '../../context/log/entry.ts';
import { frame, framed } from '../../context/log/frames.ts';
import type { Calibration } from '../../context/plan/plan.ts';
import { BRANCH_PREAMBLE, BRANCH_SUMMARY_OUTPUT, branchPolicy } from '../../context/summary/branch-summary.ts';
import type { BranchItem } from '../../context/summary/branch-summary.ts';
import { extractiveSummary } from '../../context/summary/extractive-summary.ts';
import { renderFileLists } from '../../context/summary/file-lists.ts';
import type { FileLists } from '../../context/summary/file-lists.ts';
import type { NewBranchSummary } from '../../store/conversations/change-branch.ts';
import { readLeftBranch } from '../../store/conversations/left-branch.ts';
import type { LeftBranch } from '../../store/conversations/left-branch.ts';
import type { Database } from '../../store/database/database.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { withoutSecrets } from '../../tools/runtime/restated-secrets.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { secretsLeftOut, redactedOriginals, secretsOfEntries } from '../compaction/redaction.ts';
import { newText } from '../runtime/new-content.ts';

interface Extraction {
  /** Secrets that were left out of the items. */
  readonly leftOut: number;
  readonly files: FileLists;
  readonly items: readonly BranchItem[];
  readonly snapshot: AgentSnapshot;
  readonly calibration: Calibration;
  readonly call: NewBranchSummary['call'];
}

/** Without a model. */
export function extractedBranchSummary({
  files,
  items,
  leftOut,
  snapshot,
  calibration,
  call,
}: Extraction): NewBranchSummary {
  const text = extractiveSummary({
    policy: branchPolicy(snapshot.policy),
    entries: items.map(({ entry }) => entry),
    previousSummary: null,
    maximumTokens: BRANCH_SUMMARY_OUTPUT,
    calibration,
  });
  const redacted = { input: 0, output: secretsLeftOut(text, { of: leftOut, already: '' }) };
  return branchSummaryOf(files, text, { items, model: null, promptVersion: 'extractive', call, redacted });
}

/** With what stands before it and the files below it. */
export function branchSummaryOf(
  files: FileLists,
  text: string,
  rest: Pick<NewBranchSummary, 'model' | 'promptVersion' | 'call'> & {
    readonly items: readonly BranchItem[];
    readonly redacted: Readonly<Record<'input' | 'output', number>>;
  },
): NewBranchSummary {
  const { items, ...written } = rest;
  const listed = renderFileLists(files);
  // The text was checked, and what it holds of lists is the program's.
  const inside = framed([text, ...(listed === '' ? [] : [listed])].join('\n\n'));
  const shown = `${BRANCH_PREAMBLE}\n\n${frame('branchSummary', [inside])}`;
  return {
    ...newText(shown),
    ...written,
    files,
    entriesRead: items.length,
  };
}

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
