import { clipContent } from './clip.ts';
import type { Entry } from '../log/entry.ts';
import type { CompactionPlan } from './plan.ts';
import type { PlanningState } from './planning-state.ts';

/** Of an entry that stays visible, so much goes into a transcript: enough to follow what was done. Characters. */
export const EXCERPT_CHARACTERS = 600;
const EXCERPT_HEAD = 400;

/**
 * Whether the summary in force stands for an entry. One in place stands for what was shortened only:
 * other entries were visible beside it, and are still to be summarized when they go.
 */
export function coveredAlready(
  { input, table, inForce }: Pick<PlanningState, 'input' | 'table' | 'inForce'>,
  position: number,
): boolean {
  const { summary } = input;
  const sequence = table.sequenceAt(position);
  if (summary === null || sequence > summary.coveredThroughSequence) return false;
  if (summary.inPlace !== true || sequence < summary.firstKeptSequence) return true;
  const kind = inForce.get(position)?.kind;
  return kind === 'clip' || kind === 'clear';
}

/** The entries of a part's range as its transcript shows them: originals, and excerpts of what stays visible. */
export function readableEntries(plan: CompactionPlan, entries: readonly Entry[]): readonly Entry[] {
  const { reading } = plan;
  if (reading === undefined) return entries;
  const earlier = new Set(reading.earlier);
  const changed = new Set(plan.operations.map((operation) => operation.entryId));
  return entries
    .filter((entry) => entry.sequence > reading.after || earlier.has(entry.sequence))
    .map((entry) => (reading.excerptUnchanged && !changed.has(entry.id) ? excerpt(entry) : entry));
}

/** The user's words stay whole: they are the task. */
function excerpt(entry: Entry): Entry {
  if (entry.kind === 'user' || entry.kind === 'note') return entry;
  const content = clipContent(entry.content, {
    entryId: entry.id,
    head: EXCERPT_HEAD,
    tail: EXCERPT_CHARACTERS - EXCERPT_HEAD,
    keepMedia: false,
    options: { recall: false },
  });
  return { ...entry, content };
}
