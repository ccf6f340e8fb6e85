import { patched, workflowInfo } from '@temporalio/workflow';

/**
 * Whoever takes a turn over replays the history of its run. Temporal suggests a new run after 4,096 events, whose replay takes
 * 2 s on an idle machine (facts/temporal.md §13); with twenty turns to take over at once on two cores that passes the timeout of
 * a workflow task, and the turns stand still for minutes (measured by the soak).
 */
const LONG_HISTORY_EVENTS = 1_000;

/** Asked between two steps: whether the turn goes on in a new run. */
export function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || (historyLength >= LONG_HISTORY_EVENTS && patched('short-runs'));
}

/**
 * Asked inside a step, between summaries and while something is waited for: eight summaries that wait for hours write more than a
 * history may hold, and so do the messages that come while people are to decide. A turn of an older version left for a new run only between two steps.
 */
export function isHistoryLongInStep(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return (continueAsNewSuggested || historyLength >= LONG_HISTORY_EVENTS) && patched('new-runs-in-steps');
}
