import { describe, expect, it } from 'vitest';
import { queryTerms, searchTerms } from '../../src/store/search-terms.ts';

describe('searchTerms', () => {
  it.each<[string, string[]]>([
    ['Hello, world! Hello', ['hello', 'world']],
    ['src/store/errors.ts', ['src/store/errors.ts', 'src', 'store', 'errors', 'ts']],
    ['readFitCheck', ['readfitcheck', 'read', 'fit', 'check']],
    ['HTTPServer2', ['httpserver2', 'http', 'server', '2']],
    ['snake_case', ['snake_case', 'snake', 'case']],
    ['v1.2.3', ['v1.2.3', 'v1', '2', '3', 'v', '1']],
    ['Café ÜBER', ['cafe', 'uber']],
    ['明天开会', ['明天', '天开', '开会']],
    ['猫', ['猫']],
    ['open 文件.txt now', ['文件', 'open', 'txt', 'now']],
    ["don't", ['don', 't']],
    ['', []],
    ['!!! --- ...', []],
  ])('of %j are %j', (text, terms) => {
    expect(searchTerms(text)).toEqual(terms);
  });

  it('leave out runs that are no words', () => {
    expect(searchTerms(`word ${'a1'.repeat(40)}`)).toEqual(['word', 'a', '1']);
  });
});

describe('queryTerms', () => {
  it('leave out what every text has, unless nothing else is left', () => {
    expect(queryTerms('What is the name of it?')).toEqual(['name']);
    expect(queryTerms('Who was that')).toEqual(['who', 'was', 'that']);
  });
});
