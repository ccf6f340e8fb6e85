import { createRequire } from 'node:module';
import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import type { FailureConverter, PayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';

const guard = createRequire(import.meta.url)('../../src/temporal/payload-guard.cjs') as {
  PAYLOAD_LIMIT_BYTES: number;
  payloadConverter: PayloadConverter;
  failureConverter: FailureConverter;
};

const big = 'x'.repeat(guard.PAYLOAD_LIMIT_BYTES + 1);

test('a payload at the limit passes, one over it fails without retry and without its text', () => {
  expect(guard.payloadConverter.toPayload('x'.repeat(guard.PAYLOAD_LIMIT_BYTES - 2))).toBeDefined();
  expect(() => guard.payloadConverter.toPayload(big)).toThrow(
    expect.objectContaining({
      type: 'PayloadTooLarge',
      nonRetryable: true,
      message: expect.not.stringContaining('xxx'),
    }),
  );
});

test("an application's own workflows may hold what they like", () => {
  const owner = (workflowId: string) => ({ type: 'workflow', namespace: 'default', workflowId }) as const;
  expect(guard.payloadConverter.toPayload(big, owner('invoice:7'))).toBeDefined();
  expect(() => guard.payloadConverter.toPayload(big, owner('agent-turn:7'))).toThrow('over the limit');
  const failure = guard.failureConverter.errorToFailure(new Error(big), defaultPayloadConverter, owner('invoice:7'));
  expect(failure.message).toBe(big);
});

test('an oversized detail of a failure is replaced, never thrown: it would take the worker down', () => {
  const failure = ApplicationFailure.create({ type: 'T', message: 'short', details: [big] });
  const converted = guard.failureConverter.errorToFailure(failure, defaultPayloadConverter);
  const detail = converted.applicationFailureInfo?.details?.payloads?.[0];
  expect(Buffer.from(detail?.data ?? []).toString()).toContain('left out');
});

test('a detail that cannot be serialized is replaced', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const failure = ApplicationFailure.create({ type: 'T', message: 'short', details: [circular] });
  const converted = guard.failureConverter.errorToFailure(failure, defaultPayloadConverter);
  expect(converted.applicationFailureInfo?.details?.payloads).toHaveLength(1);
});

test('messages and stacks of failures are clipped, and stacks do not repeat the message', () => {
  const error = new Error(`planted ${big}`);
  const converted = guard.failureConverter.errorToFailure(error, defaultPayloadConverter);
  expect(converted.message?.length).toBeLessThan(600);
  expect(converted.stackTrace).not.toContain('planted');
  expect(converted.stackTrace?.length).toBeLessThanOrEqual(2_001);
});
