import { textOf } from '../../context/log/content.ts';
import { frame, framed } from '../../context/log/frames.ts';
import type { Calibration } from '../../context/plan/plan.ts';
import { BRANCH_PREAMBLE, BRANCH_SUMMARY_OUTPUT, branchPolicy } from '../../context/summary/branch-summary.ts';
import type { BranchItem } from '../../context/summary/branch-summary.ts';
import { extractiveSummary } from '../../context/summary/extractive-summary.ts';
import { renderFileLists } from '../../context/summary/file-lists.ts';
import type { FileLists } from '../../context/summary/file-lists.ts';
import type { NewBranchSummary } from '../../store/conversations/change-branch.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { redactedOriginals, secretsLeftOut } from '../compaction/redaction.ts';
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

/** What a tool printed of a key must not come back as memory. */
export async function redactedSummary(summary: NewBranchSummary | null): Promise<NewBranchSummary | null> {
  if (summary === null) return null;
  const { text, count } = await redactSecrets(textOf(summary.content));
  if (count === 0) return summary;
  const { input, output } = summary.redacted ?? { input: 0, output: 0 };
  return { ...summary, ...newText(text), redacted: { input, output: output + count } };
}

/** What is quoted of a branch, without secrets before it is cut. */
export async function redactedItems(
  items: readonly BranchItem[],
): Promise<{ readonly items: readonly BranchItem[]; readonly leftOut: number }> {
  const { entries, count } = await redactedOriginals(items.map(({ entry }) => entry));
  return { items: items.map((item, index) => ({ ...item, entry: entries[index] ?? item.entry })), leftOut: count };
}
