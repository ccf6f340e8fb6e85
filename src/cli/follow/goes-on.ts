import type { Holdfast } from '../../client/holdfast.ts';

/** A worker that is alive serves a row within it. */
const PATIENCE_MILLISECONDS = 2_000;

/** What is written with nobody working on a turn, or by whoever ends one whose workflow is gone. */
const WITHOUT_WORKER: ReadonlySet<string> = new Set([
  'decision_requested',
  'decision_made',
  'turn_ended',
  'tool_call_finished',
  'compaction_abandoned',
  'model_call_failed',
]);

/** `unserved`: nothing is known of a worker. `endedAs`: the turn in question ended without having moved. */
export type News = 'goes_on' | 'unserved' | { readonly endedAs: string };

/**
 * Whether a turn moved within 2 s: only then is it known that a worker serves what was stored.
 * @param at.afterEvent number of the newest event before that
 * @param at.turnId the turn in question; left out, any turn of the conversation
 */
export async function goesOn(
  client: Holdfast,
  at: { readonly conversationId: string; readonly afterEvent: number; readonly turnId?: string },
): Promise<News> {
  const { conversationId, afterEvent, turnId } = at;
  const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
  for await (const update of client.conversation.watch({
    conversationId,
    afterSequence: afterEvent,
    liveText: false,
    signal,
  })) {
    if (update.type !== 'event' || (turnId !== undefined && update.event.turnId !== turnId)) continue;
    const { event } = update;
    if (!WITHOUT_WORKER.has(event.kind)) return 'goes_on';
    if (event.kind === 'turn_ended' && turnId !== undefined) return { endedAs: event.data.outcome };
  }
  return 'unserved';
}
