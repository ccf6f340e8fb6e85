import { expect, test } from 'vitest';
import { anchoredCalibration, NO_CALIBRATION, estimateTokens } from '../../src/context/log/estimate.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { addMeasurements } from '../../src/context/log/measurements.ts';

const before = measureText('The valve of pump seven opens at twenty bar. '.repeat(400));
const since = measureText('{"pump": 7, "bar": 20}\n'.repeat(200));
const request = addMeasurements(before, since);

test('the estimate of a request is the newest count plus the estimate of what came after it', () => {
  const usage = { input: 9_000, output: 120 };
  const anchored = anchoredCalibration(NO_CALIBRATION, request, { usage, since });
  const withFrames = { factor: 1.2, frameTokens: 30, samples: 7 };
  const expected = usage.input + usage.output + estimateTokens(since, NO_CALIBRATION);
  expect(Math.abs(estimateTokens(request, anchored) - expected)).toBeLessThanOrEqual(1);
  const framed = usage.input + usage.output + estimateTokens(since, withFrames);
  const anchoredFrames = anchoredCalibration(withFrames, request, { usage, since });
  expect(Math.abs(estimateTokens(request, anchoredFrames) - framed)).toBeLessThanOrEqual(1);
});

test('R3 without a count since the newest compaction the learned calibration stays', () => {
  const learned = { factor: 1.2, samples: 7 };
  expect(anchoredCalibration(learned, request, null)).toBe(learned);
});

test('a count that no tokenizer gives is not believed', () => {
  const absurd = { usage: { input: 9_000_000, output: 0 }, since: measureText('') };
  expect(anchoredCalibration(NO_CALIBRATION, request, absurd).factor).toBe(3);
});

test('a request of framing alone keeps the learned calibration', () => {
  const tiny = measureText('hello');
  const report = { usage: { input: 400, output: 3 }, since: measureText('') };
  expect(anchoredCalibration(NO_CALIBRATION, tiny, report)).toBe(NO_CALIBRATION);
});
