// An activity of your own workflow: gives an agent a task and waits for the answer.
import { ApplicationFailure, Context } from '@temporalio/activity';
import { connect } from 'holdfast';

const holdfast = await connect(); // once per process

/** `proxyActivities({ startToCloseTimeout: '1 day', heartbeatTimeout: '20 seconds' })` */
export async function askAgent(task: string): Promise<string> {
  const { info, cancellationSignal } = Context.current();
  const startKey = `${info.workflowExecution?.runId}/${info.activityId}`; // the same in each attempt, another after a Reset
  const beat = setInterval(() => Context.current().heartbeat(), 5_000);
  try {
    const started = await holdfast.start(task, { agent: 'support', startKey });
    const { outcome, text, explanation } = await started.result({ signal: cancellationSignal });
    if (outcome !== 'completed') throw ApplicationFailure.nonRetryable(explanation, outcome);
    return text;
  } finally {
    clearInterval(beat);
  }
}
