import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** Bytes; the same limit as in `src/temporal/payload-guard.cjs`. */
const PAYLOAD_LIMIT_BYTES = 8192;

/**
 * Checks what a workflow or query returns while a throw still fails only that call: a converter
 * that throws during completion would fail the workflow task again and again.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
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
});

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
