import { BRANCH_PREAMBLE, BRANCH_SUMMARY_OUTPUT, branchPolicy } from '../../context/summary/branch-summary.ts';
import type { BranchItem } from '../../context/summary/branch-summary.ts';
import { extractiveSummary } from '../../context/summary/extractive-summary.ts';
import { renderFileLists } from '../../context/summary/file-lists.ts';
import { frame, framed } from '../../context/log/frames.ts';
import type { FileLists } from '../../context/summary/file-lists.ts';
import type { Calibration } from '../../context/plan/plan.ts';
import type { NewBranchSummary } from '../../store/conversations/change-branch.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { newText } from '../runtime/new-content.ts';
import { secretsLeftOut } from '../compaction/redacted-originals.ts';

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
