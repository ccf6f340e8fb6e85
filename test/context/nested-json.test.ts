import { expect, test } from 'vitest';
import { DEEPEST_JSON, isNestedTooDeep, jsonOf, parseNestedJson } from '../../src/context/log/nested-json.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test('lists and objects may be nested as deep as the limit, however many there are and whatever strings hold', () => {
  expect(isNestedTooDeep(nested(DEEPEST_JSON))).toBe(false);
  expect(isNestedTooDeep(nested(DEEPEST_JSON + 1))).toBe(true);
  expect(isNestedTooDeep('{"a":'.repeat(DEEPEST_JSON + 1))).toBe(true);
  expect(isNestedTooDeep(`[${'[],{},'.repeat(DEEPEST_JSON)}0]`)).toBe(false);
  expect(isNestedTooDeep(JSON.stringify([`"${'['.repeat(DEEPEST_JSON)}`, '\\']))).toBe(false);
  expect(isNestedTooDeep(`["\\\\",${nested(DEEPEST_JSON)}]`)).toBe(true);
});

test('a text is read as JSON, and a value written as JSON, unless either fails', () => {
  expect(parseNestedJson('{"a":[1]}')).toEqual({ a: [1] });
  expect(parseNestedJson('{"a":')).toBeUndefined();
  expect(parseNestedJson(nested(DEEPEST_JSON + 1))).toBeUndefined();
  expect(jsonOf({ a: [1] })).toBe('{"a":[1]}');
  expect(jsonOf(undefined)).toBe('');
});
