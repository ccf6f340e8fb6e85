import { extendFileLists } from '../../context/summary/file-lists.ts';
import type { FileLists, SummaryLedger } from '../../context/summary/file-lists.ts';
import type { CompactionPlan } from '../../context/plan/plan.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import { LEDGER_LENGTH, callSubject, extendLedger, shortSubject } from '../../context/summary/result-ledger.ts';
import type { LedgerResult } from '../../context/summary/result-ledger.ts';
import type { Database } from '../../store/database/database.ts';
import { readCallsOf, readResultsOf } from '../../store/compactions/previous-summary.ts';
import type { CallRange } from '../../store/compactions/previous-summary.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../tools/runtime/names.ts';
import { withoutAnySecrets } from './said-secrets.ts';

const EMPTY: SummaryLedger = { read: [], modified: [] };

interface LedgerPass {
  readonly conversationId: string;
  readonly headEntryId: string;
  readonly plan: CompactionPlan;
  readonly previous: { readonly files: SummaryLedger } | null;
  readonly policy: CompactionPolicy;
}

/**
 * The ledger after a pass (R18): that of the compaction before, and the files and results of calls that leave the view now. It
 * stands below a summary, and becomes a memory with it: without secrets, as the summary is (R28).
 */
export async function keepLedger(database: Database, pass: LedgerPass): Promise<SummaryLedger> {
  const { conversationId, headEntryId, plan, previous, policy } = pass;
  const earlier = previous?.files ?? EMPTY;
  const fromSequence = plan.parts.find((part) => part.fromSequence !== undefined)?.fromSequence;
  const { coveredThroughSequence: toSequence } = plan;
  if (toSequence === null || fromSequence === undefined) return earlier;
  const range = { conversationId, headEntryId, fromSequence, toSequence };
  const { read, modified } = await filesOf(database, range, { earlier, policy });
  // What recall found is no work of its own.
  const calls = await readResultsOf(database, range, { not: [RECALL_OPEN, RECALL_SEARCH], newest: LEDGER_LENGTH });
  const subjects = calls.map((call) => callSubject(call.arguments));
  const told = await withoutAnySecrets(database, range, { policy, texts: [...subjects, ...read, ...modified] });
  const results = calls.map(({ entryId, tool, outcome, characters }, index): LedgerResult => {
    return { entryId, tool, target: shortSubject(told[index] ?? ''), outcome, characters };
  });
  const files = told.slice(subjects.length);
  return {
    read: eachOnce(files.slice(0, read.length)),
    modified: eachOnce(files.slice(read.length)),
    results: extendLedger(earlier.results ?? [], results),
  };
}

async function filesOf(
  database: Database,
  range: CallRange,
  { earlier, policy }: { readonly earlier: SummaryLedger; readonly policy: CompactionPolicy },
): Promise<FileLists> {
  const { fileLists: tools } = policy.summary;
  if (tools === null) return earlier;
  return extendFileLists({
    earlier,
    calls: await readCallsOf(database, range, [...tools.read, ...tools.modified]),
    tools,
  });
}

function eachOnce(files: readonly string[]): readonly string[] {
  return [...new Set(files)];
}
