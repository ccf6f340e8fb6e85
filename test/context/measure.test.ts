import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureContent, measureText } from '../../src/context/log/measure.ts';
import {
  addMeasurements,
  characterCount,
  NO_MEASUREMENTS,
  scaleMeasurements,
  subtractMeasurements,
  sumMeasurements,
  MEASUREMENT_NAMES,
} from '../../src/context/log/measurements.ts';
import { image, text } from './builders.ts';

const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));

describe('measureText', () => {
  test('tells the classes of characters apart', () => {
    expect(measureText('two words')).toMatchObject({ letters: 8, spaces: 1 });
    expect(measureText('{"a": 12}')).toMatchObject({ letters: 3, symbols: 5, spaces: 1 });
    expect(measureText('a\n    b')).toMatchObject({ letters: 2, whitespaceRuns: 5, spaces: 0 });
    expect(measureText('Привет')).toMatchObject({ letters: 6, ideographs: 0 });
    expect(measureText('今日はカタカナ한국')).toMatchObject({ letters: 0, ideographs: 9 });
    expect(measureText('👍')).toMatchObject({ symbols: 2 });
  });

  test('knows base64, hashes and ids from long names', () => {
    const base64 = 'c2FtcGxlIGZvciB0aGUgdGVzdCBvZiBhIGRlbnNlIHJ1biBvZiBjaGFyYWN0ZXJz';
    expect(measureText(base64)).toMatchObject({ dense: base64.length, letters: 0 });
    expect(measureText('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b').dense).toBe(40);
    expect(measureText('0198c1f2-7a3b-7c4d-8e5f-6a7b8c9d0e1f').dense).toBe(36);
    expect(measureText('aVeryLongCamelCaseIdentifierOfAClass').dense).toBe(0);
    expect(measureText('src/context/measurement-arithmetic.ts').dense).toBe(0);
  });

  test('counts every UTF-16 unit once, characters of traditional Chinese alone twice, and the bytes of its UTF-8 form', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const measured = measureText(value);
        const rare = characterCount(measured) - value.length;
        expect(rare).toBeGreaterThanOrEqual(0);
        expect(rare).toBeLessThanOrEqual(value.match(/\p{Script=Han}/gu)?.length ?? 0);
        expect(measured.bytes).toBe(new TextEncoder().encode(value).length);
        expect(measured.frames).toBe(0);
      }),
    );
    expect(characterCount(measureText('個個 a人'))).toBe(7);
  });

  test('a lone surrogate and NUL are counted like any character', () => {
    expect(characterCount(measureText('a\ud800b\0c\udfff'))).toBe(6);
    expect(measureText('\ud800').bytes).toBe(3);
  });
});

describe('measureContent', () => {
  test('counts a frame for the entry and one per tool call, and the text of its arguments', () => {
    const call = { type: 'tool_call', index: 0, id: 'call_1', name: 'read', arguments: '{"p":1}' } as const;
    const measured = measureContent([...text('ok'), call, { ...call, index: 1 }]);
    expect(measured.frames).toBe(3);
    expect(characterCount(measured)).toBe(2 + 2 * ('read'.length + '{"p":1}'.length));
  });

  test('R24 an image counts by its area, never by its base64', () => {
    const large = { ...image(1_000, 700), data: 'x'.repeat(2_700_000) } as const;
    const measured = measureContent([large]);
    expect(measured).toMatchObject({ images: 1, imagePatches: 36 * 25, dense: 0, letters: 0 });
    expect(measured.bytes).toBeGreaterThan(2_000_000);
  });

  test('an image is never more than vendors charge, and one of unknown size is not free', () => {
    expect(measureContent([image(20_000, 20_000)]).imagePatches).toBe(4_000);
    expect(measureContent([image(0, 0)]).imagePatches).toBe(1_600);
  });

  test('a document counts by pages, a file without pages as its text', () => {
    const file = { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data: 'AAAA', pages: 12 } as const;
    expect(measureContent([file])).toMatchObject({ documentPages: 12, letters: 0, bytes: 3 });
    expect(measureContent([{ ...file, pages: 0, data: 'QUJD' }])).toMatchObject({ documentPages: 0, letters: 3 });
    const notes = { ...file, mediaType: 'text/plain', data: 'QUJD' };
    expect(measureContent([notes])).toMatchObject({ documentPages: 0, letters: 3 });
  });

  test('punctuation right after punctuation counts as letters do: it shares a token', () => {
    expect(measureText('{"a":"b"},{')).toMatchObject({ symbols: 3, letters: 8 });
    expect(measureText('a == b')).toMatchObject({ symbols: 1, letters: 3 });
    expect(measureText('😀😀')).toMatchObject({ symbols: 4, letters: 0 });
  });

  test('hidden reasoning counts, encrypted or in the signature of an empty text; the signature of a text does not', () => {
    const thinking = { type: 'thinking', text: 'hm', provider: 'anthropic' } as const;
    expect(measureContent([{ ...thinking, signature: 'x'.repeat(500) }]).letters).toBe(2);
    expect(measureContent([{ ...thinking, text: '', encrypted: 'x'.repeat(500) }]).letters).toBe(500);
    expect(measureContent([{ ...thinking, text: '', signature: 'x'.repeat(500) }]).letters).toBe(500);
  });

  test('is additive over parts', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 5 }), (texts) => {
        const whole = measureContent(texts.flatMap((value) => text(value)));
        const parts = sumMeasurements([{ ...NO_MEASUREMENTS, frames: 1 }, ...texts.map(measureText)]);
        expect(whole).toEqual(parts);
      }),
    );
  });
});

describe('arithmetic', () => {
  const one = measureContent([...text('Some words, and {"json": true}\n\n'), image()]);
  const other = measureContent(text('完全 other text'));

  test('what is added can be taken out again', () => {
    expect(subtractMeasurements(addMeasurements(one, other), other)).toEqual(one);
    expect(subtractMeasurements(one, one)).toEqual(NO_MEASUREMENTS);
    expect(sumMeasurements([])).toEqual(NO_MEASUREMENTS);
  });

  test('scaling gives whole numbers', () => {
    const third = scaleMeasurements(one, 1 / 3);
    for (const name of MEASUREMENT_NAMES) {
      expect(third[name]).toBe(Math.round(one[name] / 3));
    }
  });
});
