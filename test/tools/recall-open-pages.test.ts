import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recallOpen } from '../../src/tools/builtin/recall-open.ts';
import type { ToolMemory } from '../../src/tools/tool.ts';
import { call, emptyMemory, ENTRY_ID } from './support/tool-context.ts';

const CHARACTERS = ['𠮷', '野', '家', '🦩', 'a', '\n', '👩‍🚀'];

const holding = (text: string): ToolMemory => ({
  ...emptyMemory,
  open: (_, offset, limit) =>
    Promise.resolve({ text: text.slice(offset, offset + limit), totalCharacters: text.length, kind: 'user' }),
  around: () =>
    Promise.resolve({
      entries: [{ entryId: ENTRY_ID, kind: 'user', toolName: null, createdAt: '', text, isClipped: false }],
    }),
});

interface ShownPage {
  readonly from: number;
  readonly end: number;
  readonly total: number;
  readonly page: string;
}

async function open(text: string, input: Readonly<Record<string, number>>): Promise<ShownPage> {
  const asked = { input: { entry_id: ENTRY_ID, ...input }, context: { memory: holding(text) } };
  const { text: shown } = await call(recallOpen, asked);
  const [, from, end, total, page = ''] = /^.* characters (\d+)–(\d+) of (\d+) · .*\n([^]*)$/u.exec(shown) ?? [];
  return { from: Number(from), end: Number(end), total: Number(total), page };
}

test.each([{}, { around: 1 }])('pages cut no character in two, and joined are the original: %j', async (asked) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 20 }),
      fc.integer({ min: 1, max: 7 }),
      async (characters, limit) => {
        const original = ['x', ...characters].join('');
        let seen = '';
        for (let offset = 0, total = 1; offset < total;) {
          const shown = await open(original, { ...asked, offset, limit });
          expect(shown).toMatchObject({ from: offset, end: offset + shown.page.length });
          expect(shown.page).not.toMatch(/\p{Surrogate}/u);
          expect(shown.page.length).toBeLessThanOrEqual(Math.max(2, limit));
          seen += shown.page;
          ({ end: offset, total } = shown);
        }
        expect(seen.slice(-original.length)).toBe(original);
      },
    ),
    { numRuns: 40 },
  );
});

test('a page that is asked for from within a character begins behind it', async () => {
  expect(await open('𠮷野家🦩', { offset: 1, limit: 2 })).toEqual({ from: 2, end: 3, total: 6, page: '野' });
});

test('recall_open shows the images of an entry with its first page', async () => {
  const image = { type: 'image', mediaType: 'image/png', data: 'aGk=', width: 2, height: 1 } as const;
  const open = () => Promise.resolve({ text: '[image 2 × 1]', totalCharacters: 13, kind: 'user', media: [image] });
  const asked = { context: { memory: { ...emptyMemory, open } } };
  const first = await call(recallOpen, { ...asked, input: { entry_id: ENTRY_ID } });
  expect(first.content).toEqual([expect.objectContaining({ type: 'text' }), image]);
  const rest = await call(recallOpen, { ...asked, input: { entry_id: ENTRY_ID, offset: 6 } });
  expect(rest.content).toHaveLength(1);
});
