import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  calibrate,
  observationOf,
  estimateTokens,
  FRAME_TOKENS,
  NO_CALIBRATION,
  rawTokens,
} from '../../src/context/log/estimate.ts';
import { addMeasurements, NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import type { Measurements } from '../../src/context/log/measurements.ts';
import type { Calibration } from '../../src/context/plan/plan.ts';

/** Letters of so many uncalibrated tokens, in so many frames. */
function content(tokens: number, frames = 3): Measurements {
  return { ...NO_MEASUREMENTS, letters: Math.round(tokens / rawTokens({ ...NO_MEASUREMENTS, letters: 1 })), frames };
}

/** What a model that takes `factor` per token of text and `frame` per frame reports. */
function reportOf(measurements: Measurements, truth: { readonly factor: number; readonly frame: number }): number {
  const text = rawTokens(measurements) - measurements.frames * FRAME_TOKENS;
  return Math.round(text * truth.factor + measurements.frames * truth.frame);
}

function learn(contents: readonly Measurements[], truth: { factor: number; frame: number }): Calibration {
  let calibration: Calibration = NO_CALIBRATION;
  for (const measurements of contents) {
    calibration = calibrate(calibration, { measurements, reported: reportOf(measurements, truth) });
  }
  return calibration;
}

describe('calibrate', () => {
  test.each([0.7, 1, 1.35, 2.4])('R25 finds a tokenizer that needs %f times the tokens within three calls', (truth) => {
    const calibration = learn([content(4_000), content(9_000), content(15_000)], {
      factor: truth,
      frame: FRAME_TOKENS,
    });
    expect(calibration.factor).toBeGreaterThan(truth * 0.95);
    expect(calibration.factor).toBeLessThan(truth * 1.05);
    expect(calibration.samples).toBe(3);
  });

  test('R25 a settled calibration learns from a report that it did not foresee, and from no other', () => {
    const truth = { factor: 1.3, frame: FRAME_TOKENS };
    const settled = learn(
      Array.from({ length: 25 }, (_, call) => content(1_000 + 100 * call)),
      truth,
    );
    const measurements = content(2_000);
    const foreseen = { measurements, reported: reportOf(measurements, truth) };
    expect(calibrate(settled, foreseen)).toBe(settled);
    const other = calibrate(settled, { measurements, reported: reportOf(measurements, { ...truth, factor: 1.5 }) });
    expect(other.factor).toBeGreaterThan(settled.factor);
  });

  test('R25 after three calls the growth between two calls is known within 15 % in the median, whatever text and frames cost', () => {
    const growth = fc.record({ tokens: fc.integer({ min: 40, max: 6_000 }), frames: fc.integer({ min: 1, max: 9 }) });
    const truths = fc.record({
      factor: fc.double({ min: 0.75, max: 1.8, noNaN: true }),
      frame: fc.integer({ min: 3, max: 50 }),
    });
    fc.assert(
      fc.property(fc.array(growth, { minLength: 40, maxLength: 40 }), truths, (drawn, truth) => {
        let calibration: Calibration = NO_CALIBRATION;
        const errors: number[] = [];
        for (const [call, { tokens, frames }] of drawn.entries()) {
          const measurements = content(tokens, frames);
          const reported = reportOf(measurements, truth);
          if (call >= 3) errors.push(Math.abs(estimateTokens(measurements, calibration) / reported - 1));
          calibration = calibrate(calibration, { measurements, reported });
        }
        errors.sort((left, right) => left - right);
        expect(errors[Math.floor(errors.length / 2)]).toBeLessThan(0.15);
      }),
      { numRuns: 80 },
    );
  });

  test('tells what text costs from what frames cost', () => {
    const truth = { factor: 1.25, frame: 40 };
    const small = [60, 90, 40, 120].map((tokens) => content(tokens, 3));
    const large = [3_000, 8_000, 5_000].map((tokens) => content(tokens, 4));
    const learned = learn([...small, ...large, ...small, ...large, ...small], truth);
    expect(learned.factor).toBeGreaterThan(1.2);
    expect(learned.factor).toBeLessThan(1.3);
    expect(learned.frameTokens).toBeGreaterThan(34);
    expect(learned.frameTokens).toBeLessThan(46);
  });

  test('one absurd report moves a settled factor a little, and reports that cannot be right not at all', () => {
    const truth = { factor: 1.2, frame: FRAME_TOKENS };
    const contents = Array.from({ length: 25 }, (_, call) => content(1_000 + 100 * call));
    const settled = learn(contents, truth);
    const odd = calibrate(settled, { measurements: content(10_000), reported: 90_000 });
    expect(odd.factor).toBeGreaterThan(settled.factor);
    expect(odd.factor).toBeLessThanOrEqual(1.5);
    for (const reported of [0, -5, Number.NaN, Infinity, 3]) {
      expect(calibrate(settled, { measurements: content(10_000), reported })).toEqual(settled);
    }
    expect(calibrate(settled, { measurements: NO_MEASUREMENTS, reported: 10_000 })).toEqual(settled);
  });

  test('stays within its bounds whatever is reported', () => {
    const report = fc.tuple(fc.nat(1_000_000), fc.nat(200), fc.nat(1_000_000));
    fc.assert(
      fc.property(fc.array(report, { maxLength: 30 }), (reports) => {
        let calibration: Calibration = NO_CALIBRATION;
        for (const [tokens, frames, reported] of reports) {
          calibration = calibrate(calibration, { measurements: content(tokens, frames), reported });
        }
        expect(calibration.factor).toBeGreaterThanOrEqual(0.5);
        expect(calibration.factor).toBeLessThanOrEqual(3);
        expect(calibration.frameTokens ?? 0).toBeGreaterThanOrEqual(0);
        expect(calibration.frameTokens ?? 0).toBeLessThanOrEqual(100);
      }),
    );
  });
});

describe('observationOf', () => {
  const request = { view: content(49_000, 190), fixed: content(1_000, 10) };

  test('is the growth since the newest count: what a provider adds to every request unseen is in both', () => {
    const [answer, since, unseen] = [content(200, 1), content(700, 2), 20_000];
    const reported = { usage: { input: 49_100 + unseen, output: 200 }, answer, since };
    const observation = observationOf({ ...request, reported }, 50_000 + unseen);
    expect(observation).toEqual({ measurements: addMeasurements(answer, since), reported: 900 });
  });

  test('R3 is the whole request when no count is newer than the newest compaction', () => {
    const measurements = addMeasurements(request.view, request.fixed);
    expect(observationOf({ ...request, reported: null }, 61_000)).toEqual({ measurements, reported: 61_000 });
  });
});
