import { expect, test } from 'vitest';
import { recallSearch } from '../../src/tools/builtin/recall-search.ts';
import type { RecallPassage } from '../../src/tools/tool.ts';
import { call, emptyMemory, ENTRY_ID } from './support/tool-context.ts';

const passageOf = (text: string, forms: readonly string[]): RecallPassage => ({
  entryId: ENTRY_ID,
  kind: 'tool_result',
  createdAt: '2026-11-22T10:00:00Z',
  toolName: 'read_file',
  path: 'src/ports.ts',
  match: 'words',
  matched: ['heron'],
  forms,
  offset: 0,
  text,
});

/** What is shown of one long passage. */
async function excerptOf(found: RecallPassage, resultLimit: number): Promise<string> {
  const memory = { ...emptyMemory, search: () => Promise.resolve([found]) };
  const { text } = await call(recallSearch, { input: { query: 'x' }, context: { memory, resultLimit } });
  return text.slice(text.indexOf('\n') + 1);
}

test.each([
  ['decomposed accents', 'Mu\u0308ller_Re\u0301sume\u0301.pdf', ['müller', 'résumé']],
  ['half-width kana', 'ｻｰﾊﾞｰ', ['サー', 'ーバ', 'バー']],
  ['full-width letters', 'ＡＰＩ', ['api']],
  ['no other spelling, behind letters that lower case makes longer', 'heron', ['heron']],
])('recall_search shows of a long passage the piece with the words found: %s', async (_, written, forms) => {
  const before = 'İstanbul… and other names of files '.repeat(40);
  const found = passageOf(`${before}${written} ${'and more '.repeat(200)}`, forms);
  expect(await excerptOf(found, 700)).toContain(written);
  const quoted = { ...found, match: 'phrase', forms: [written.normalize('NFKC').toLowerCase()] } as const;
  expect(await excerptOf(quoted, 700)).toContain(written);
});

test('recall_search cuts no surrogate pair in two', async () => {
  for (let shift = 0; shift < 3; shift += 1) {
    const text = `${'x'.repeat(shift)}${'🦩'.repeat(400)} heron ${'🦩'.repeat(400)}`;
    const shown = await excerptOf(passageOf(text, ['heron']), 700);
    expect(shown).toMatch(/^….* heron .*…$/u);
    expect(shown).not.toMatch(/\p{Surrogate}/u);
  }
});

test('recall_search shows the end of a passage whole, and never more than its share', async () => {
  for (const end of ['heron', 'heron u\u0308', 'heron 🦩']) {
    const text = `${'word '.repeat(300)}${end}`;
    const shown = await excerptOf(passageOf(text, ['heron']), 700);
    expect(shown.endsWith(` ${end}`)).toBe(true);
    expect(shown.length).toBeLessThanOrEqual(700 - 200);
  }
});
