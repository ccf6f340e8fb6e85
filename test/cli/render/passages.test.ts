import { expect, test } from 'vitest';
import type { FoundPassage } from '../../../src/client/memory-types.ts';
import { passageLines } from '../../../src/cli/render/passages.ts';
import { PLAIN_STYLE } from '../../../src/cli/render/style.ts';

const style = { ...PLAIN_STYLE, yellow: (text: string) => `<${text}>` };

function shown(text: string, forms: readonly string[], match: FoundPassage['match'] = 'words', query = 'any'): string {
  const passage: FoundPassage = {
    conversationId: '01890a5d-ac96-774b-bcce-000000000000',
    entryId: '01890a5d-ac96-774b-bcce-000000000001',
    kind: 'user',
    sequence: 1,
    createdAt: '2026-11-22T10:00:00Z',
    toolName: null,
    path: null,
    offset: 0,
    text,
    match,
    matched: [],
    forms,
    updatedBy: null,
    branch: 0,
    onActiveBranch: true,
    score: 1,
  };
  return passageLines([passage], query, { columns: null, style, now: 0 }).slice(1).join(' ').trim();
}

test('sets off the forms that were found, as whole words, and parts of identifiers', () => {
  expect(shown('Adopted two Puppies, and the puppiesville', ['adopted', 'puppies'])).toBe(
    '<Adopted> two <Puppies>, and the puppiesville',
  );
  expect(shown('readFitCheck in fit-check.ts, unchecked', ['check'])).toBe(
    'readFit<Check> in fit-<check>.ts, unchecked',
  );
  expect(shown('order QX-1003 (a+b)', ['qx-1003', '(a+b)'])).toBe('order <QX-1003> <(a+b)>');
  expect(shown('数据库连接池', ['连接'])).toBe('数据库<连接>池');
  expect(shown('nothing to set off', [])).toBe('nothing to set off');
});

test('sets off a phrase as one', () => {
  expect(shown('So The Port is 5433', ['port', '5433'], 'phrase', 'the port is')).toBe('So <The Port is> <5433>');
});
