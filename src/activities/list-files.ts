import { extendFileLists } from '../context/file-lists.ts';
import type { FileLists } from '../context/file-lists.ts';
import type { CompactionPlan } from '../context/plan.ts';
import type { CompactionPolicy } from '../context/policy.ts';
import type { Database } from '../store/database.ts';
import { readCallsOf } from '../store/previous-summary.ts';

const NO_FILES: FileLists = { read: [], modified: [] };

/** Files after a pass: those of the compaction before, and what calls name that leave the view now. */
export async function listFiles(
  database: Database,
  pass: {
    readonly conversationId: string;
    readonly headEntryId: string;
    readonly plan: CompactionPlan;
    readonly previous: { readonly files: FileLists } | null;
    readonly policy: CompactionPolicy;
  },
): Promise<FileLists> {
  const { conversationId, headEntryId, plan, previous, policy } = pass;
  const earlier = previous?.files ?? NO_FILES;
  const { fileLists: tools } = policy.summary;
  const fromSequence = plan.parts.find((part) => part.fromSequence !== undefined)?.fromSequence;
  if (tools === null || plan.coveredThroughSequence === null || fromSequence === undefined) return earlier;
  const calls = await readCallsOf(database, {
    conversationId,
    headEntryId,
    fromSequence,
    toSequence: plan.coveredThroughSequence,
    names: [...tools.read, ...tools.modified],
  });
  return extendFileLists({ earlier, calls, tools });
}
