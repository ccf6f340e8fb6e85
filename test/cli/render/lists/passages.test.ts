import { expect, test } from 'vitest';
import { definedOf } from '../../../../src/context/policy/defined-of.ts';
import type { FoundPassage } from '../../../../src/client/types.ts';
import { passageLines } from '../../../../src/cli/render/lists/passages.ts';
import { PLAIN_STYLE } from '../../../../src/cli/render/text/style.ts';
import { MARKED_STYLE } from '../marked-style.ts';

const style = { ...PLAIN_STYLE, yellow: (text: string) => `<${text}>` };

const PASSAGE: FoundPassage = {
  conversationId: '01890a5d-ac96-774b-bcce-000000000000',
  entryId: '01890a5d-ac96-774b-bcce-000000000001',
  kind: 'user',
  sequence: 1,
  createdAt: '2026-11-22T10:00:00Z',
  toolName: null,
  path: null,
  offset: 0,
  text: 'found',
  match: 'words',
  matched: [],
  forms: [],
  branch: 0,
  onActiveBranch: true,
  score: 1,
};

function rowsOf(
  text: string,
  forms: readonly string[],
  match: FoundPassage['match'] = 'words',
  rest: Partial<FoundPassage> = {},
): string[] {
  const passage = { ...PASSAGE, text, match, forms, ...rest };
  return passageLines([passage], { columns: null, style, now: 0 }).slice(1);
}

const shown = (...given: Parameters<typeof rowsOf>): string =>
  rowsOf(...given)
    .join(' ')
    .trim();

test('sets off the forms that were found, in identifiers and longer words too', () => {
  expect(shown('Adopted two Puppies, and the puppiesville', ['adopted', 'puppies'])).toBe(
    '<Adopted> two <Puppies>, and the <puppies>ville',
  );
  expect(shown('readFitCheck in fit-check.ts, unchecked', ['check'])).toBe(
    'readFit<Check> in fit-<check>.ts, un<check>ed',
  );
  expect(shown('order QX-1003 (a+b)', ['qx-1003', '(a+b)'])).toBe('order <QX-1003> <(a+b)>');
  expect(shown('数据库连接池', ['连接'])).toBe('数据库<连接>池');
  expect(shown('nothing to set off', [])).toBe('nothing to set off');
});

const numbered = (from: number, through: number): string[] =>
  Array.from({ length: through - from + 1 }, (_, index) => `line ${from + index}`);

test('of a long passage shows the rows around what was found, with … where something is left out', () => {
  const rows = (found: number) =>
    rowsOf(
      numbered(1, 40)
        .with(found - 1, `line ${found} heron`)
        .join('\n'),
      ['heron'],
    );
  const trimmed = (found: number) => rows(found).map((row) => row.trim());
  expect(trimmed(20)).toEqual(['…', ...numbered(17, 19), 'line 20 <heron>', ...numbered(21, 24), '…']);
  expect(trimmed(2)).toEqual(['line 1', 'line 2 <heron>', ...numbered(3, 8), '…']);
  expect(trimmed(40)).toEqual(['…', ...numbered(33, 39), 'line 40 <heron>']);
  expect(rowsOf(numbered(1, 8).join('\n'), ['heron'])).toHaveLength(8);
  expect(rowsOf(numbered(1, 9).join('\n'), ['heron']).map((row) => row.trim())).toEqual([...numbered(1, 8), '…']);
});

test('of a long passage shows the rows with most of the words, where one of them is also found before', () => {
  const text = numbered(1, 40).with(1, 'line 2 heron').with(19, 'line 20 heron blue').join('\n');
  const rows = rowsOf(text, ['heron', 'blue']).map((row) => row.trim());
  expect(rows).toEqual(['…', ...numbered(17, 19), 'line 20 <heron> <blue>', ...numbered(21, 24), '…']);
});

test.each([
  ['decomposed accents', 'Mu\u0308ller_Re\u0301sume\u0301.pdf', ['müller', 'résumé'], '<Müller>_<Résumé>.pdf'],
  ['half-width kana', 'ﾈｺ', ['ネコ'], 'ﾈｺ'],
  ['full-width letters', 'ＡＰＩ', ['api'], 'ＡＰＩ'],
])('shows the last rows of a long passage where these have the words in %s', (_, name, forms, last) => {
  const rows = rowsOf([...numbered(1, 10), name].join('\n'), forms);
  expect(rows).toHaveLength(9);
  expect(rows[0]?.trim()).toBe('…');
  expect(rows.at(-1)?.trim()).toBe(last);
});

test('sets off of two forms that begin at one place the longer, and a phrase whatever its white space', () => {
  expect(shown('the red  house', ['red', 'red house', 'house'])).toBe('the <red  house>');
});

test('shows what was said beside a passage, and on which branch when that was left', () => {
  const neighbour = { says: 'answer', entryId: '01890a5d-ac96-774b-bcce-000000000002', text: '5433' } as const;
  const rows = (given: FoundPassage['neighbour']) =>
    rowsOf('Which port?', [], 'words', definedOf({ neighbour: given }));
  expect(rows(neighbour).at(-1)).toBe('   after it: 5433');
  expect(rows({ ...neighbour, branch: 2 }).at(-1)).toBe('   after it, branch 2: 5433');
  expect(rows(undefined)).toEqual(['   Which port?']);
});

test('names the conversation where several were searched, and the others that have the same text', () => {
  const [one, other] = ['01890a5d-ac96-774b-bcce-00000000000a', '01890a5d-ac96-774b-bcce-00000000000b'];
  const head = (alsoIn?: readonly string[], namesConversations = true): string => {
    const passage = { ...PASSAGE, conversationId: one, ...definedOf({ alsoIn }) };
    return passageLines([passage], { columns: null, style: PLAIN_STYLE, now: 0, namesConversations })[0] ?? '';
  };
  expect(head()).toContain(', conversation 0000000a  ');
  expect(head([other])).toContain(', conversation 0000000a, also 0000000b  ');
  expect(head([other], false)).not.toContain('conversation');
});

test('the head of a passage tells its number, kind, source, age, place and branch', () => {
  const head = (rest: Partial<FoundPassage>): string => {
    const now = Date.parse('2026-11-22T12:00:00Z');
    return passageLines([{ ...PASSAGE, ...rest }], { columns: null, style: MARKED_STYLE, now })[0] ?? '';
  };
  const id = PASSAGE.entryId;
  expect(head({})).toBe(`*1. user*~  2 h ago  ${id}~`);
  expect(head({ kind: 'tool_result', toolName: 'read_file', path: 'a.md', offset: 1_200 })).toBe(
    `*1. tool result*~  read_file a.md  2 h ago at character 1,200  ${id}~`,
  );
  expect(head({ toolName: 'run', branch: 2, onActiveBranch: false })).toBe(
    `*1. user*~  run  2 h ago, branch 2  ${id}~`,
  );
  const path = (length: number) => head({ toolName: 'run', path: 'x'.repeat(length - 1) + 'y' });
  expect(path(60)).toContain(`run ${'x'.repeat(59)}y  2 h`);
  expect(path(61)).toContain(`run …${'x'.repeat(58)}y  2 h`);
  const [, , between, second] = passageLines([PASSAGE, PASSAGE], { columns: null, style: PLAIN_STYLE, now: 0 });
  expect([between, second?.slice(0, 7)]).toEqual(['', '2. user']);
});
