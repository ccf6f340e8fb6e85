import type { HoldfastClient } from '../../client/types.ts';

/** A worker that is alive serves a row within it. */
const PATIENCE_MILLISECONDS = 2_000;

/** What happens to a turn with nobody working on it. */
const WITHOUT_WORKER: ReadonlySet<string> = new Set(['decision_requested', 'decision_made', 'turn_ended']);

/**
 * Whether a turn moved within 2 s: only then is it known that a worker serves what was stored.
 * @param at.afterEvent number of the newest event before that
 */
export async function goesOn(
  client: HoldfastClient,
  { conversationId, afterEvent }: { readonly conversationId: string; readonly afterEvent: number },
): Promise<boolean> {
  const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
  for await (const update of client.watch({ conversationId, afterSequence: afterEvent, liveText: false, signal })) {
    if (update.type === 'event' && !WITHOUT_WORKER.has(update.event.kind)) return true;
  }
  return false;
}
