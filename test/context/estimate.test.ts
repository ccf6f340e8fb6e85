import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { calibrate, estimateTokens, NO_CALIBRATION, rawTokens } from '../../src/context/estimate.ts';
import { measureContent, measureText } from '../../src/context/measure.ts';
import { addMeasurements } from '../../src/context/measurement-arithmetic.ts';
import { image, text } from './builders.ts';

/** Sliced: the tokenizer's time grows with the square of an unbroken run. */
function realTokens(value: string): number {
  let count = 0;
  for (let at = 0; at < value.length; at += 2_000) count += encode(value.slice(at, at + 2_000)).length;
  return count;
}

const CHINESE =
  '今天天气很好，我们一起去公园散步吧。这个项目使用数据库保存所有的原始消息，并且在每次调用模型之前检查上下文是否太长。' +
  '如果太长，就会生成摘要，用户的消息会尽可能逐字保留。';
const JAPANESE =
  '日本語の文章を要約するプログラムです。ユーザーからのメッセージはすべてデータベースに保存されます。' +
  'カタカナとひらがなも含まれていますので、文字の種類ごとに数えます。';
const KOREAN =
  '한국어 문장은 띄어쓰기가 있습니다. 모든 메시지는 데이터베이스에 저장되고 필요할 때 다시 찾을 수 있습니다.';
const MAIL =
  'From: Ada Example <ada@example.org>\nTo: team@example.org\nSubject: Re: Delivery of order KT-9284\n' +
  'Date: Tue, 14 Jul 2026 09:12:44 +0200\n\nHello all,\n\nthe order was delivered at 2:43 this morning. The invoice over 1,284.50 EUR ' +
  'is due on 9 July; please confirm that the amount is right, and tell me who signs.\n\nThanks,\nAda\n';

const samples: Readonly<Record<string, string>> = {
  prose: readFileSync('node_modules/fast-check/README.md', 'utf8'),
  markdown: readFileSync('node_modules/hono/README.md', 'utf8'),
  code: readFileSync('src/context/measure.ts', 'utf8'),
  'more code': readFileSync('src/context/plan.ts', 'utf8'),
  'JSON manifest': readFileSync('package.json', 'utf8'),
  'JSON lockfile': readFileSync('package-lock.json', 'utf8').slice(0, 60_000),
  Chinese: CHINESE,
  Japanese: JAPANESE,
  Korean: KOREAN,
  'e-mail': MAIL,
  base64: randomBytes(3_000).toString('base64'),
  hex: randomBytes(3_000).toString('hex'),
};

describe('estimateTokens', () => {
  test.each(Object.entries(samples))(
    'R25 is within 20 % of a real tokenizer on %s, without calibration',
    (_, sample) => {
      const ratio = estimateTokens(measureText(sample), NO_CALIBRATION) / realTokens(sample);
      expect(ratio).toBeGreaterThan(0.8);
      expect(ratio).toBeLessThan(1.2);
    },
  );

  test('is linear: the estimate of a sum is the sum of the estimates up to rounding', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.double({ min: 0.5, max: 3, noNaN: true }), (left, right, factor) => {
        const calibration = { factor, samples: 1 };
        const [a, b] = [measureContent(text(left)), measureContent(text(right))];
        const apart = estimateTokens(a, calibration) + estimateTokens(b, calibration);
        const together = estimateTokens(addMeasurements(a, b), calibration);
        expect(together).toBeLessThanOrEqual(apart);
        expect(together).toBeGreaterThanOrEqual(apart - 2);
      }),
    );
  });

  test('R24 a picture of 2.7 MB costs a few thousand tokens at most', () => {
    const picture = { ...image(4_000, 3_000), data: 'iVBORw0K'.repeat(450_000) } as const;
    expect(estimateTokens(measureContent([picture]), NO_CALIBRATION)).toBeLessThan(4_100);
  });
});

describe('calibrate', () => {
  const estimateOf = (size: number, factor: number): number => Math.ceil(size * factor);

  test.each([0.7, 1, 1.35, 2.4])('R25 finds a tokenizer that needs %f times the tokens within three calls', (truth) => {
    let calibration = NO_CALIBRATION;
    for (const size of [4_000, 9_000, 15_000]) {
      calibration = calibrate(calibration, { estimated: estimateOf(size, calibration.factor), reported: size * truth });
    }
    expect(calibration.factor).toBeGreaterThan(truth * 0.95);
    expect(calibration.factor).toBeLessThan(truth * 1.05);
    expect(calibration.samples).toBe(3);
  });

  test('one absurd report moves a settled factor a little, and reports that cannot be right not at all', () => {
    const settled = { factor: 1.2, samples: 20 };
    const odd = calibrate(settled, { estimated: 10_000, reported: 90_000 });
    expect(odd.factor).toBeGreaterThan(1.2);
    expect(odd.factor).toBeLessThanOrEqual(1.5);
    for (const reported of [0, -5, Number.NaN, Infinity, 3]) {
      expect(calibrate(settled, { estimated: 10_000, reported })).toEqual(settled);
    }
    expect(calibrate(settled, { estimated: 0, reported: 10_000 })).toEqual(settled);
  });

  test('stays within its bounds whatever is reported', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1_000_000), fc.nat(1_000_000)), { maxLength: 30 }), (reports) => {
        let calibration = NO_CALIBRATION;
        for (const [estimated, reported] of reports) calibration = calibrate(calibration, { estimated, reported });
        expect(calibration.factor).toBeGreaterThanOrEqual(0.5);
        expect(calibration.factor).toBeLessThanOrEqual(3);
      }),
    );
  });

  test('a view that is estimated right stays as it is', () => {
    const calibration = { factor: 1.3, samples: 9 };
    expect(calibrate(calibration, { estimated: 8_000, reported: 8_000 }).factor).toBeCloseTo(1.3);
    expect(rawTokens(measureText(''))).toBe(0);
  });
});
