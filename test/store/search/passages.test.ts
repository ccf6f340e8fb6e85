import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PASSAGE_CHARACTERS, splitPassages } from '../../../src/store/search/passage-writer.ts';

const LONE_SURROGATE = /\p{Surrogate}/u;

const TEXT = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.constantFrom('\n', ' ', '😀'.repeat(300), 'x'.repeat(900)),
    ),
    { maxLength: 20 },
  )
  .map((pieces) => pieces.join(''));

describe('splitPassages', () => {
  it('leaves out nothing but white space, keeps offsets, and parts no character', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const passages = splitPassages(text);
        let covered = '';
        for (const passage of passages) {
          const gap = text.slice(covered.length, passage.offset);
          expect(gap.trim()).toBe('');
          covered += gap + passage.text;
          expect(passage.text.length).toBeLessThanOrEqual(PASSAGE_CHARACTERS);
          if (!LONE_SURROGATE.test(text)) expect(passage.text).not.toMatch(LONE_SURROGATE);
        }
        expect(text.startsWith(covered)).toBe(true);
        expect(text.slice(covered.length).trim()).toBe('');
      }),
    );
  });

  it('cuts at line ends rather than at spaces, and at spaces rather than in words', () => {
    const lines = splitPassages(`${'word '.repeat(150)}\n${'word '.repeat(150)}`);
    expect(lines[0]?.text.endsWith('\n')).toBe(true);
    const words = splitPassages('word '.repeat(300));
    expect(words.every(({ text }) => text.endsWith('word '))).toBe(true);
    const clauses = splitPassages('今天天气很好，我们去公园散步。'.repeat(100));
    expect(clauses.length).toBeGreaterThan(1);
    expect(clauses.every(({ text }) => /[，。]$/u.test(text))).toBe(true);
    const minified = splitPassages('function(a){return(a.b);}'.repeat(100));
    expect(minified.every(({ text }) => /[{}();]$/u.test(text))).toBe(true);
    expect(splitPassages('x'.repeat(2_500)).map(({ text }) => text.length)).toEqual([1_000, 1_000, 500]);
  });

  it.each([
    ['|', (id: string) => id],
    ['&', (id: string, index: number) => `order_${index}=${id}`],
    ['/', (id: string) => id],
    ['', (id: string) => `"${id}"`],
  ])('cuts no identifier where names stand without spaces, joined by %j', (mark, named) => {
    const identifiers = Array.from({ length: 400 }, (_, index) => `order-${(index * 7_919 + 100_003) % 999_983}_eu`);
    const passages = splitPassages(identifiers.map(named).join(mark));
    expect(passages.length).toBeGreaterThan(4);
    for (const identifier of identifiers) expect(passages.some(({ text }) => text.includes(identifier))).toBe(true);
  });
});
