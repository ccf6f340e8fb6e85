import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clipContent } from '../../src/context/plan/clip.ts';
import type { ContentPart } from '../../src/context/log/content.ts';
import { textOf } from '../../src/context/log/content.ts';
import type { Entry } from '../../src/context/log/entry.ts';
import { NO_CALIBRATION, estimateTokens, rawTokens } from '../../src/context/log/estimate.ts';
import { measureContent } from '../../src/context/log/measure.ts';
import { applyOperation, clearOperation, clipOperation, stripOperation } from '../../src/context/log/operations.ts';
import { formatCount } from '../../src/context/view/notes.ts';
import { nestedJson } from '../support/nested.ts';
import { image, LogBuilder, outline, prose, text } from './builders.ts';

function result(content: string | ContentPart[]): Entry {
  const log = new LogBuilder();
  log.user('go');
  const added = log.step([content])[1];
  if (added === undefined) throw new Error('the builder added no result');
  return added;
}

describe('clip', () => {
  test('W21 keeps head and tail around a label of what was there, omitted and shown', () => {
    const entry = result(`${'h'.repeat(5_000)}${'m'.repeat(30_000)}${'t'.repeat(10_000)}`);
    const shown = textOf(applyOperation(entry, clipOperation(entry, { head: 6_000, tail: 3_000 })));
    expect(shown.startsWith(`${'h'.repeat(5_000)}${'m'.repeat(1_000)}\n[Clipped`)).toBe(true);
    expect(shown.endsWith('t'.repeat(3_000))).toBe(true);
    expect(shown).toContain('45,000 characters, 36,000 omitted, first 6,000 and last 3,000 shown');
    expect(shown).toContain(`recall_open ${entry.id}`);
  });

  test('does not name the recall tool to an agent that has none', () => {
    const entry = result(prose(9_000));
    for (const operation of [clipOperation(entry, { head: 500, tail: 500 }), clearOperation(entry)]) {
      const shown = textOf(applyOperation(entry, operation, { recall: false }));
      expect(shown).not.toContain('recall_open');
      expect(shown).toContain('kept in the log');
    }
  });

  test('D3 a message of text and file keeps the text of both ends and its parts', () => {
    const log = new LogBuilder();
    const file: ContentPart = {
      type: 'file',
      mediaType: 'application/pdf',
      name: 'orders.pdf',
      data: 'QUJD',
      pages: 2,
    };
    const entry = log.user([
      ...text(`Please sum these: ${prose(4_000)}`),
      file,
      ...text(`${prose(4_000)} Thanks, Ada`),
    ]);
    const clipped = applyOperation(entry, clipOperation(entry, { head: 400, tail: 200 }));
    expect(textOf(clipped)).toMatch(/^Please sum these:/);
    expect(textOf(clipped)).toMatch(/Thanks, Ada$/);
    expect(textOf(clipped)).toContain('orders.pdf');
    const keeping = applyOperation(entry, clipOperation(entry, { head: 400, tail: 200, keepMedia: true }));
    expect(keeping).toContainEqual(file);
  });

  test('W22 a clipped answer loses its reasoning and keeps its tool calls', () => {
    const log = new LogBuilder();
    const entry = log.answer([
      { type: 'thinking', text: 'hm', provider: 'anthropic', signature: 's' },
      ...text(prose(8_000)),
      { type: 'tool_call', index: 0, id: 'c', name: 'read_file', arguments: '{"path":"a.md"}' },
    ]);
    const clipped = applyOperation(entry, clipOperation(entry, { head: 600, tail: 100 }));
    expect(clipped.map((part) => part.type)).toEqual(['text', 'tool_call']);
    expect(clipped.at(-1)).toEqual(entry.content.at(-1));
  });

  test('clipped arguments stay valid JSON with the same keys', () => {
    const log = new LogBuilder();
    const content = prose(40_000);
    const entry = log.answer([
      {
        type: 'tool_call',
        index: 0,
        id: 'c',
        name: 'write_file',
        arguments: JSON.stringify({ path: 'report.md', content, mode: 'create' }),
      },
    ]);
    const [call] = applyOperation(entry, clipOperation(entry, { head: 800, tail: 200 }));
    if (call?.type !== 'tool_call') throw new Error('the call is gone');
    const parsed: unknown = JSON.parse(call.arguments);
    expect(parsed).toMatchObject({ path: 'report.md', mode: 'create' });
    expect(call.arguments.length).toBeLessThan(1_300);
    expect(call.arguments).toContain(`recall_open ${entry.id}`);
  });

  test('arguments of which little is kept still say which file', () => {
    const log = new LogBuilder();
    const input = { path: 'notes/results/report-2.md', content: prose(40_000) };
    const entry = log.answer([
      { type: 'tool_call', index: 0, id: 'c', name: 'write_file', arguments: JSON.stringify(input) },
    ]);
    const [call] = applyOperation(entry, clipOperation(entry, { head: 40, tail: 24 }));
    if (call?.type !== 'tool_call') throw new Error('the call is gone');
    expect(JSON.parse(call.arguments)).toMatchObject({ path: input.path, content: expect.stringMatching(/omitted/) });
    expect(call.arguments.length).toBeLessThan(200);
  });

  test('arguments that are no JSON object become one that is', () => {
    const log = new LogBuilder();
    const list = JSON.stringify(Array.from({ length: 3_000 }, (_, n) => n));
    for (const raw of [`{"path": "a${'x'.repeat(5_000)}`, list, nestedJson(4_000), nestedJson(100_000)]) {
      const call: ContentPart = { type: 'tool_call', index: 0, id: 'c', name: 'f', arguments: raw };
      const entry = log.answer([call]);
      const [clipped] = applyOperation(entry, clipOperation(entry, { head: 300, tail: 100 }));
      if (clipped?.type !== 'tool_call') throw new Error('the call is gone');
      expect(JSON.parse(clipped.arguments)).toHaveProperty('clipped');
      expect(clipped.arguments.length).toBeLessThan(900);
    }
  });

  test.each([4_000, 100_000])('a list whose items are nested %i levels deep is clipped like any text', (depth) => {
    const entry = result(`[${nestedJson(depth)},1,2,3]`);
    const operation = { ...clipOperation(entry, { head: 300, tail: 100 }), arrayItems: 2 };
    expect(textOf(applyOperation(entry, operation))).toMatch(/^\[{"value":\[{200}.*\[Clipped/s);
  });

  test('never cuts through a surrogate pair', () => {
    const content = text('👍'.repeat(2_000));
    for (const head of [100, 101, 102]) {
      const [part] = clipContent(content, { entryId: 'e', head, tail: head, keepMedia: true, options: {} });
      const shown = part?.type === 'text' ? part.text : '';
      expect(Buffer.from(shown).toString()).toBe(shown);
    }
  });
});

describe('clear and strip', () => {
  test('O21 a cleared result is one line that says what it was and how to get it back', () => {
    const entry = result([...text(prose(12_345)), image()]);
    const shown = applyOperation(entry, clearOperation(entry));
    expect(shown).toHaveLength(1);
    expect(textOf(shown)).toBe(
      `[Old result of read_file cleared: 12,345 characters. recall_open ${entry.id} shows the original.]`,
    );
  });

  test('a cleared note shows nothing', () => {
    const log = new LogBuilder();
    const note = log.note('plan', 'x');
    expect(applyOperation(note, clearOperation(note))).toEqual([]);
  });

  test('R23 stripping replaces each image by a line and leaves the text', () => {
    const entry = result([...text('a screenshot'), image(1_024, 768), image(10, 20)]);
    const shown = textOf(applyOperation(entry, stripOperation(entry)));
    expect(shown).toContain('a screenshot');
    expect(shown).toContain('1024 × 768 pixels');
    expect(shown).toContain(`recall_open ${entry.id}`);
  });

  test('counts are written alike everywhere', () => {
    expect([0, 999, 1_000, 1_234_567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567']);
  });
});

const contents: fc.Arbitrary<ContentPart[]> = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 4_000 }).map((value): ContentPart => ({ type: 'text', text: value })),
    fc.string({ maxLength: 900 }).map((value): ContentPart => ({
      type: 'tool_call',
      index: 0,
      id: 'c',
      name: 'f',
      arguments: JSON.stringify({ value }),
    })),
    fc.constant(image()),
    fc.constant<ContentPart>({ type: 'thinking', text: 'so', provider: 'p', signature: 's' }),
  ),
  { minLength: 1, maxLength: 4 },
);

describe('every operation', () => {
  test('never makes an entry larger, and its measurements are close to what is shown', () => {
    const sizes = fc.record({ head: fc.nat(600), tail: fc.nat(400), keepMedia: fc.boolean() });
    fc.assert(
      fc.property(contents, sizes, (content, size) => {
        const log = new LogBuilder();
        const entry = log.add({ kind: 'assistant', callNumber: 1, content });
        const seen = outline(entry);
        for (const operation of [clipOperation(seen, size), clearOperation(seen), stripOperation(seen)]) {
          const shown = measureContent(applyOperation(entry, operation));
          expect(rawTokens(shown)).toBeLessThanOrEqual(rawTokens(entry.measurements));
        }
      }),
      { numRuns: 100 },
    );
  });

  test('a clip measured from the outline agrees with the clip that is shown', () => {
    for (const seed of [1, 2, 3]) {
      const entry = result(prose(30_000, seed));
      const operation = clipOperation(outline(entry), { head: 4_000, tail: 2_000 });
      const planned = estimateTokens(operation.measurements, NO_CALIBRATION);
      const shown = estimateTokens(measureContent(applyOperation(entry, operation)), NO_CALIBRATION);
      expect(Math.abs(planned - shown)).toBeLessThan(shown * 0.05);
    }
  });

  test('is deterministic', () => {
    const entry = result(prose(30_000));
    const operation = clipOperation(entry, { head: 4_000, tail: 2_000 });
    expect(applyOperation(entry, operation)).toEqual(applyOperation(entry, operation));
  });
});
