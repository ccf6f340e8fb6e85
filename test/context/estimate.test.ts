import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { measureContent, measureText } from '../../src/context/log/measure.ts';
import { addMeasurements } from '../../src/context/log/measurements.ts';
import { image, text } from './builders.ts';
import { INVENTED_TEXTS } from './invented-texts.ts';

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

/** Without any pattern, and the same each time. */
const BYTES = Buffer.concat(
  Array.from({ length: 47 }, (_, number) => createHash('sha512').update(`${number}`).digest()),
);

const samples: Readonly<Record<string, string>> = {
  prose: readFileSync('node_modules/fast-check/README.md', 'utf8'),
  markdown: readFileSync('node_modules/hono/README.md', 'utf8'),
  code: readFileSync('src/context/log/measure.ts', 'utf8'),
  'more code': readFileSync('src/context/plan/plan.ts', 'utf8'),
  'JSON manifest': readFileSync('package.json', 'utf8'),
  'JSON lockfile': readFileSync('package-lock.json', 'utf8').slice(0, 60_000),
  Chinese: CHINESE,
  Japanese: JAPANESE,
  Korean: KOREAN,
  'e-mail': MAIL,
  base64: BYTES.toString('base64'),
  hex: BYTES.toString('hex'),
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

  describe.each(Object.entries(INVENTED_TEXTS))('R25 of %s', (_, make) => {
    test.each([1, 2, 3])('is within a fifth of a real tokenizer, variant %i', (seed) => {
      const sample = make(seed);
      const ratio = estimateTokens(measureText(sample), NO_CALIBRATION) / realTokens(sample);
      expect(Math.abs(ratio - 1)).toBeLessThan(0.2);
    });
  });

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

  test('learned frames take the place of the assumed ones and stay linear', () => {
    const step = measureContent([
      ...text('a few words'),
      { type: 'tool_call', index: 0, id: 'call', name: 'read_file', arguments: '{}' },
    ]);
    const framed = estimateTokens(step, { factor: 1, frameTokens: 30, samples: 5 });
    expect(framed - estimateTokens(step, NO_CALIBRATION)).toBe(2 * (30 - 5));
  });

  test('R24 a picture of 2.7 MB costs a few thousand tokens at most', () => {
    const picture = { ...image(4_000, 3_000), data: 'iVBORw0K'.repeat(450_000) } as const;
    expect(estimateTokens(measureContent([picture]), NO_CALIBRATION)).toBeLessThan(4_100);
  });
});
