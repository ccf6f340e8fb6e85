import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import { CancellationScope, proxySinks, workflowInfo } from '@temporalio/workflow';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import type { WorkSinks } from '../turn/activity-values.ts';
import { isTurnWorkflowId } from '../turn/temporal-names.ts';

/** Bytes; the same limit as in `src/temporal/payload-guard.cjs`. */
const PAYLOAD_LIMIT_BYTES = 8192;

/**
 * Checks what a turn receives and returns here, where a throw fails only that call. A throw in a converter would fail the
 * workflow task again and again. An application's own workflows pass unchecked.
 */
export const interceptors: WorkflowInterceptorsFactory = () =>
  isTurnWorkflowId(workflowInfo().workflowId)
    ? {
        inbound: [
          {
            async execute(input, next) {
              return checked(await next(input));
            },
            async handleQuery(input, next) {
              return checked(await next(input));
            },
          },
        ],
        outbound: [
          {
            scheduleActivity(input, next) {
              const result = next(input);
              noticeCancel(input.seq, result);
              return result;
            },
          },
        ],
      }
    : {};

/** Running activities of each scope. */
const running = new WeakMap<CancellationScope, Set<number>>();

/** Temporal tells a running activity of its cancel only in the answer to a heartbeat. The worker of the workflow tells it sooner. */
function noticeCancel(seq: number, result: Promise<unknown>): void {
  const scope = CancellationScope.current();
  const open = running.get(scope) ?? new Set();
  if (!running.has(scope)) {
    running.set(scope, open);
    scope.cancelRequested.catch(() => {
      for (const each of open) proxySinks<WorkSinks>().work.cancelled(each);
    });
  }
  open.add(seq);
  const close = (): unknown => open.delete(seq);
  result.then(close, close);
}

function checked<Value>(value: Value): Value {
  const size = defaultPayloadConverter.toPayload(value)?.data?.length ?? 0;
  if (size > PAYLOAD_LIMIT_BYTES) {
    throw ApplicationFailure.nonRetryable(
      `a result of ${size} bytes is over the limit of ${PAYLOAD_LIMIT_BYTES}`,
      'PayloadTooLarge',
    );
  }
  return value;
}
