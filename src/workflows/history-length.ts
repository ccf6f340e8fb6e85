import { workflowInfo } from '@temporalio/workflow';

/**
 * Whoever takes a turn over replays the history of its run. Temporal suggests a new run after 4,096 events, whose replay takes
 * 2 s on an idle machine (facts/temporal.md §13); with twenty turns to take over at once on two cores that passes the timeout of
 * a workflow task, and the turns stand still for minutes (measured by the soak).
 */
const LONG_HISTORY_EVENTS = 1_000;

/** Whether the turn goes on in a new run. Asked between steps, and while people are waited for. */
export function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= LONG_HISTORY_EVENTS;
}
