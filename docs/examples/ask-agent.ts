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
    const { outcome, reason, text, explanation } = await started.result({ signal: cancellationSignal });
    // A reason beside `completed` means that the answer is cut or not of its form.
    if (outcome !== 'completed' || reason !== null)
      throw ApplicationFailure.nonRetryable(explanation, reason ?? outcome);
    return text;
  } finally {
    clearInterval(beat);
  }
}
