// @ts-check
'use strict';
/**
 * Holds the by-reference rule in production: no payload that Holdfast gives to Temporal is over
 * 8 KB, and failures carry codes, not text.
 *
 * CommonJS, because Temporal loads converter modules with `require` and bundles them into the
 * workflow sandbox (sdk-typescript#1292). A converter is the one place that sees every argument,
 * result, signal, memo and detail on both sides; a codec that threw would fail the workflow task
 * for ever instead of failing the call.
 */
const { ApplicationFailure, DefaultFailureConverter, DefaultPayloadConverter } = require('@temporalio/common');

/** Bytes of one payload. */
const PAYLOAD_LIMIT_BYTES = 8192;
/** Characters of one failure message. */
const FAILURE_MESSAGE_LIMIT = 500;
/** Characters of one failure's stack trace. */
const STACK_TRACE_LIMIT = 2000;

/** @param {import('@temporalio/common').Payload} payload */
const sizeOf = (payload) => payload.data?.length ?? 0;

/**
 * Whether a payload is a turn's. An application's own workflows may hold what they like.
 * @param {import('@temporalio/common').SerializationContext} [context] absent where the SDK does not say whose it is
 */
const isOfTurn = (context) => context?.workflowId === undefined || context.workflowId.startsWith('agent-turn:');

class GuardedPayloadConverter extends DefaultPayloadConverter {
  /**
   * @override
   * @param {unknown} value
   * @param {import('@temporalio/common').SerializationContext} [context]
   */
  toPayload(value, context) {
    const payload = super.toPayload(value, context);
    if (payload !== undefined && sizeOf(payload) > PAYLOAD_LIMIT_BYTES && isOfTurn(context)) {
      throw ApplicationFailure.create({
        type: 'PayloadTooLarge',
        nonRetryable: true,
        message: `a payload of ${sizeOf(payload)} bytes is over the limit of ${PAYLOAD_LIMIT_BYTES}: pass ids of Postgres rows instead`,
      });
    }
    return payload;
  }
}

/** Never throws: an oversized detail of an activity's failure would otherwise take the whole worker down. */
class ClippingPayloadConverter extends DefaultPayloadConverter {
  /**
   * @override
   * @param {unknown} value
   * @param {import('@temporalio/common').SerializationContext} [context]
   */
  toPayload(value, context) {
    try {
      const payload = super.toPayload(value, context);
      if (payload === undefined || sizeOf(payload) <= PAYLOAD_LIMIT_BYTES) return payload;
      return super.toPayload(`[detail of ${sizeOf(payload)} bytes left out]`, context);
    } catch {
      return super.toPayload('[detail that cannot be serialized left out]', context);
    }
  }
}

const clippingConverter = new ClippingPayloadConverter();

/**
 * @param {string} text
 * @param {number} limit
 */
const clip = (text, limit) => (text.length <= limit ? text : `${text.slice(0, limit)}…`);

/** Stack frames without the line that repeats the message. @param {string} stack */
const framesOf = (stack) =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');

class ClippingFailureConverter extends DefaultFailureConverter {
  /**
   * @override
   * @param {unknown} error
   * @param {import('@temporalio/common').PayloadConverter} converter
   * @param {import('@temporalio/common').SerializationContext} [context]
   */
  errorToFailureInner(error, converter, context) {
    if (!isOfTurn(context)) return super.errorToFailureInner(error, converter, context);
    const failure = super.errorToFailureInner(error, clippingConverter, context);
    if (failure.message) failure.message = clip(failure.message, FAILURE_MESSAGE_LIMIT);
    if (failure.stackTrace) failure.stackTrace = clip(framesOf(failure.stackTrace), STACK_TRACE_LIMIT);
    return failure;
  }
}

exports.PAYLOAD_LIMIT_BYTES = PAYLOAD_LIMIT_BYTES;
exports.payloadConverter = new GuardedPayloadConverter();
exports.failureConverter = new ClippingFailureConverter();
