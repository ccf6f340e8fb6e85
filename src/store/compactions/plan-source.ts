import { definedOf } from '../../context/policy/defined-of.ts';
import type { OutlineTable } from '../../context/log/outline-table.ts';
import type { Operation, SummaryInForce } from '../../context/plan/plan.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { readOperationsInForce, readViewScope } from '../conversations/branch-path.ts';
import type { ViewPoint } from '../conversations/branch-path.ts';
import type { Database, Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { staleEpoch } from '../messages/waiting.ts';
import { readOutlines } from '../log/packed-outlines.ts';

export interface ViewOutline {
  /** Outlines of the branch that the view needs: kept ones, kept older user messages, newest notes. Oldest first. */
  readonly entries: OutlineTable;
  readonly summary: SummaryInForce | null;
  readonly operations: readonly Operation[];
}

export interface PlanSource extends ViewOutline {
  readonly headEntryId: string;
  readonly headSequence: number;
}

/** The head of the active branch with everything committed; `null` before the first entry. */
export async function readCurrentPoint(
  sql: Queries,
  conversationId: string,
): Promise<(ViewPoint & { readonly epoch: number }) | null> {
  if (!isId(conversationId)) return null;
  const [row] = await sql<(ViewPoint & { readonly epoch: number })[]>`
    select c.id as conversation_id, c.epoch, c.branch, c.head_entry_id, e.sequence as head_sequence, c.compactions,
      c.compactions_over
    from conversations c join entries e on e.conversation_id = c.id and e.id = c.head_entry_id where c.id = ${conversationId}`;
  return row ?? null;
}

/**
 * What planning reads: sizes, never text.
 * @throws StoreError `stale_epoch`, `entry_not_found` (nothing was said yet)
 */
export async function readPlanSource(sql: Database, turn: TurnReference): Promise<PlanSource> {
  const point = await readCurrentPoint(sql, turn.conversationId);
  if (point === null) throw noEntries(turn.conversationId);
  if (point.epoch !== turn.epoch) throw staleEpoch(turn, point.epoch);
  const outline = await readViewOutline(sql, point);
  return { ...outline, headEntryId: point.headEntryId, headSequence: point.headSequence };
}

export async function readViewOutline(sql: Queries, point: ViewPoint): Promise<ViewOutline> {
  const scope = await readViewScope(sql, point);
  const [entries, operations] = await Promise.all([readOutlines(sql, scope), readOperationsInForce(sql, scope)]);
  const { summary } = scope;
  return { entries, summary: summary === null ? null : withoutText(summary), operations };
}

function withoutText(stored: SummaryInForce): SummaryInForce {
  const { compactionId, coveredThroughSequence, firstKeptSequence, keptSequences, measurements, shown, inPlace } =
    stored;
  return {
    compactionId,
    coveredThroughSequence,
    firstKeptSequence,
    keptSequences,
    measurements,
    ...definedOf({ shown, inPlace }),
  };
}

export function noEntries(conversationId: string): StoreError {
  return new StoreError('entry_not_found', `conversation ${conversationId} has no entries`);
}
