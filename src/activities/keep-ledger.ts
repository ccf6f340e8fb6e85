import { extendFileLists } from '../context/file-lists.ts';
import type { SummaryLedger } from '../context/file-lists.ts';
import type { CompactionPlan } from '../context/plan.ts';
import type { CompactionPolicy } from '../context/policy.ts';
import { callTarget, extendLedger, LEDGER_LENGTH } from '../context/result-ledger.ts';
import type { LedgerResult } from '../context/result-ledger.ts';
import type { Database } from '../store/database.ts';
import { readCallsOf, readResultsOf } from '../store/previous-summary.ts';
import type { CallRange } from '../store/previous-summary.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../tools/names.ts';
import { redactSecrets } from '../tools/redact-secrets.ts';

const EMPTY: SummaryLedger = { read: [], modified: [] };

/** The ledger after a pass (R18): that of the compaction before, and the files and results of calls that leave the view now. */
export async function keepLedger(
  database: Database,
  pass: {
    readonly conversationId: string;
    readonly headEntryId: string;
    readonly plan: CompactionPlan;
    readonly previous: { readonly files: SummaryLedger } | null;
    readonly policy: CompactionPolicy;
  },
): Promise<SummaryLedger> {
  const { conversationId, headEntryId, plan, previous, policy } = pass;
  const earlier = previous?.files ?? EMPTY;
  const { fileLists: tools } = policy.summary;
  const fromSequence = plan.parts.find((part) => part.fromSequence !== undefined)?.fromSequence;
  const { coveredThroughSequence: toSequence } = plan;
  if (toSequence === null || fromSequence === undefined) return earlier;
  const range = { conversationId, headEntryId, fromSequence, toSequence };
  const files =
    tools === null
      ? earlier
      : extendFileLists({
          earlier,
          calls: await readCallsOf(database, range, [...tools.read, ...tools.modified]),
          tools,
        });
  return { ...files, results: extendLedger(earlier.results ?? [], await resultsOf(database, range)) };
}

/** What recall found is no work of its own. Keys in arguments must not get into a summary (R28). */
async function resultsOf(database: Database, range: CallRange): Promise<readonly LedgerResult[]> {
  const calls = await readResultsOf(database, range, { not: [RECALL_OPEN, RECALL_SEARCH], newest: LEDGER_LENGTH });
  const targets = calls.map((call) => callTarget(call.arguments));
  const redacted = (await redactSecrets(targets.join('\n'))).text.split('\n');
  // A secret that reaches over a line would shift those after it: then none is told.
  const told = redacted.length === targets.length ? redacted : [];
  return calls.map(({ entryId, tool, outcome, characters }, index) => ({
    entryId,
    tool,
    target: told[index] ?? '',
    outcome,
    characters,
  }));
}
