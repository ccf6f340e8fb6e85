import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import type { BenchStack } from './bench-stack.ts';
import { RAW_WORK_QUEUE, TASK_QUEUES } from './workers/settings.ts';
import type { RawTurnInput } from './workers/raw-workflow.ts';

/** What the history of a finished workflow tells. Times are the server's, so no client or poll is in them. */
export interface MeasuredTurn {
  /** Milliseconds of each step but the last: from one model call being scheduled to the next. */
  readonly steps: readonly number[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Of the whole history. */
  readonly historyBytes: number;
  readonly historyEvents: number;
}

export interface MeasuredRawTurn extends MeasuredTurn {
  /** Milliseconds that the bodies of each step took. */
  readonly bodies: readonly number[];
}

/** So many steps with one call of the tool `pause`, and a last one that only answers. */
export function pauseTask(steps: number): string {
  return `Call pause with {"n": "$index"} ${steps} times, one by one\nSay done`;
}

/** The slowest turn takes seconds: one that lasts longer is stuck. */
const PATIENCE_MILLISECONDS = 120_000;

/** @param conversationId of an existing conversation; default: a new one */
export async function runTurn(
  stack: BenchStack,
  steps: number,
  conversationId?: string,
): Promise<MeasuredTurn & { readonly conversationId: string }> {
  const task = pauseTask(steps);
  const sent =
    conversationId === undefined
      ? await stack.client.start(task)
      : await stack.client.conversation.send({ conversationId, content: task, mode: 'queue' });
  const measured = await measureWorkflow(stack, turnWorkflowId(sent.conversationId));
  const turn = await stack.client.conversation.outcome({
    ...sent,
    timeoutMilliseconds: PATIENCE_MILLISECONDS,
    signal: stack.signal,
  });
  const answers = turn.state === 'served' ? 0 : turn.steps;
  if (turn.outcome !== 'completed' || answers !== steps + 1) {
    throw new Error(`a turn of ${steps} steps ended as ${turn.outcome} after ${answers} answers`);
  }
  return { ...measured, conversationId: sent.conversationId };
}

/**
 * The raw workflow with as many steps that pause, and one more in place of Holdfast's last answer.
 * @param workTaskQueue of its model calls and tools. Default: one of their own
 */
export async function runRawTurn(
  stack: BenchStack,
  steps: number,
  workTaskQueue = RAW_WORK_QUEUE,
): Promise<MeasuredRawTurn> {
  const workflowId = `raw-turn:${randomUUID()}`;
  const input: RawTurnInput = { steps: steps + 1, workTaskQueue };
  const bodies: number[] = await stack.temporal.workflow.execute('rawTurn', {
    workflowId,
    taskQueue: TASK_QUEUES.raw,
    args: [input],
  });
  return { ...(await measureWorkflow(stack, workflowId)), bodies: bodies.slice(0, steps) };
}

async function measureWorkflow(stack: BenchStack, workflowId: string): Promise<MeasuredTurn> {
  const handle = stack.temporal.workflow.getHandle(workflowId);
  await waitForResult(handle, stack.signal);
  const [{ events }, description] = await Promise.all([handle.fetchHistory(), handle.describe()]);
  const all = events ?? [];
  const scheduled = all
    .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel')
    .map(({ eventTime }) => toMilliseconds(eventTime));
  return {
    steps: scheduled.slice(1).map((time, step) => time - (scheduled[step] ?? time)),
    startedAt: toMilliseconds(all[0]?.eventTime),
    endedAt: toMilliseconds(all.at(-1)?.eventTime),
    historyBytes: description.historySize ?? 0,
    historyEvents: description.historyLength,
  };
}

const START_POLL_MILLISECONDS = 20;

/**
 * Waits as the raw workflow's client does, by a long poll: a client that follows the events of a turn works along,
 * and is not what is compared. The doorbell rings in the background, so the workflow may not be there yet.
 */
async function waitForResult(handle: WorkflowHandle, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      // Without a limit a turn that is stuck would hold the bench for ever.
      await within(PATIENCE_MILLISECONDS, handle.result(), `workflow ${handle.workflowId}`);
      return;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await sleep(START_POLL_MILLISECONDS);
    }
  }
}

/** @throws Error when `work` takes longer */
async function within<Result>(milliseconds: number, work: Promise<Result>, what: string): Promise<Result> {
  const over = new AbortController();
  try {
    const late = sleep(milliseconds, null, { signal: over.signal }).then((): never => {
      throw new Error(`${what} has not ended after ${milliseconds} ms`);
    });
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

interface Timestamp {
  readonly seconds?: { toString(): string } | null;
  readonly nanos?: number | null;
}

function toMilliseconds(time: Timestamp | null | undefined): number {
  if (time?.seconds === undefined || time.seconds === null) throw new TypeError('an event without a time');
  return Number(time.seconds.toString()) * 1_000 + (time.nanos ?? 0) / 1_000_000;
}
