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
            async scheduleActivity(input, next) {
              const result = next(input);
              // Temporal tells a running activity of its cancel only in the answer to a heartbeat. The worker of the workflow tells it sooner.
              let isOpen = true;
              CancellationScope.current().cancelRequested.catch(() => {
                if (isOpen) proxySinks<WorkSinks>().work.cancelled(input.seq);
              });
              try {
                return await result;
              } finally {
                isOpen = false;
              }
            },
          },
        ],
      }
    : {};

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
