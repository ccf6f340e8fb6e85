import { Context } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';

/** What Temporal hands to an activity, as far as the shell reads it. */
export function activityContext(attempt: number, startToCloseTimeoutMs: number): Context {
  const workflowExecution = { workflowId: 'agent-turn:1', runId: 'run' };
  const info = { activityId: '1', attempt, workflowExecution, startToCloseTimeoutMs } as Info;
  const never = new Promise<never>(() => undefined);
  const { signal } = new AbortController();
  const of = [info, never, signal, () => undefined, undefined, console, undefined, {}] as unknown;
  return new Context(...(of as ConstructorParameters<typeof Context>));
}
