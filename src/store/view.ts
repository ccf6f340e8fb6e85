import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { ProjectionInput } from '../context/view.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';

export interface ProjectionSource {
  readonly input: ProjectionInput;
  readonly snapshot: AgentSnapshot;
  readonly headSequence: number;
  /** The newest compaction that the projection takes into account; `null` when none was committed. */
  readonly compactionId: string | null;
}

/**
 * What the view at a head is made of: kept entries with their content, kept older user messages,
 * newest notes, the summary and the operations in force.
 * @throws StoreError `stale_epoch`, `entry_not_found`
 */
export async function readProjectionSource(
  _sql: Database,
  _request: { readonly turn: TurnReference; readonly headEntryId: string },
): Promise<ProjectionSource> {
  throw new Error('unwritten');
}

/**
 * The same for a call of the past, as it was then: compactions committed later do not count.
 * @throws StoreError `model_call_not_found`
 */
export async function readProjectionSourceOfCall(
  _sql: Database,
  _call: { readonly turnId: string; readonly callNumber: number; readonly attempt: number },
): Promise<ProjectionSource> {
  throw new Error('unwritten');
}

/** The same for a conversation as it stands, with the snapshot of its newest turn; `null` before its first turn. */
export async function readCurrentProjectionSource(
  _sql: Database,
  _conversationId: string,
): Promise<ProjectionSource | null> {
  throw new Error('unwritten');
}
