import { expect, test } from 'vitest';
import { detectSilentOverflow } from '../../src/models/errors/silent-overflow.ts';

type Input = Parameters<typeof detectSilentOverflow>[0];

function input(changes: Partial<Input>, tokens: { input?: number; output?: number } = {}): Input {
  const { input: read = 20_000, output = 500 } = tokens;
  return {
    provider: 'some',
    usage: { input: read, cacheRead: 0, cacheWrite: 0, output },
    stopReason: 'end',
    window: 32_768,
    estimatedInput: 20_000,
    isCalibrated: true,
    maximumOutput: 8_192,
    ...changes,
  };
}

test.each<[string, Input]>([
  ['the vendor says that the window is full', input({ stopReason: 'window_full' })],
  ['it says so without usage', input({ stopReason: 'window_full', usage: undefined })],
  ['more input is reported than the window holds', input({}, { input: 40_000 })],
  [
    'input is cut to the window and nothing is left to write',
    input({ stopReason: 'maximum_output' }, { input: 32_700, output: 0 }),
  ],
  ['the server dropped half of the input', input({ estimatedInput: 40_000 }, { input: 20_387 })],
  [
    'the server dropped nearly all of the first request to a model that nothing is known of',
    input({ estimatedInput: 160_000, isCalibrated: false, window: 200_000 }, { input: 16_387 }),
  ],
])('an overflow without an error is noticed when %s', (_, given) => {
  expect(detectSilentOverflow(given)).toMatchObject({ kind: 'overflow', evidence: expect.stringContaining('some') });
});

test.each<[string, Input]>([
  ['an ordinary answer', input({})],
  ['no usage', input({ usage: undefined })],
  ['usage of zeros, as some servers report', input({}, { input: 0, output: 0 })],
  ['an answer cut at the requested maximum', input({ stopReason: 'maximum_output' }, { output: 8_192 })],
  [
    'a short answer cut at a small maximum with room left',
    input({ stopReason: 'maximum_output', maximumOutput: 16 }, { output: 16 }),
  ],
  [
    'an estimate twice too high for a model that nothing is known of',
    input({ estimatedInput: 45_000, isCalibrated: false }, { input: 20_000 }),
  ],
  ['an estimate that was somewhat too high', input({ estimatedInput: 30_000 })],
  ['a small request that was estimated badly', input({ estimatedInput: 1_900 }, { input: 300 })],
  ['a full window that ended well', input({}, { input: 32_000, output: 700 })],
])('%s is no overflow', (_, given) => {
  expect(detectSilentOverflow(given)).toBeNull();
});
