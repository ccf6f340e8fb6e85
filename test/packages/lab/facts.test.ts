import { describe, expect, test } from 'vitest';
import { sampleFacts } from '../../../packages/lab/src/facts/fact-pool.ts';
import type { PooledFact } from '../../../packages/lab/src/facts/fact-pool.ts';
import { countSurvivors, withoutSummaries } from '../../../packages/lab/src/facts/fact-survival.ts';
import { factsIn } from '../../../src/verify/audit/facts.ts';
import type { FactKind } from '../../../src/verify/audit/facts.ts';
import { saysFact, searchedText } from '../../../src/verify/audit/find-fact.ts';
import { KEPT_HEADING } from '../../../src/context/summary/must-keep.ts';
import type { View } from '../../../src/context/view/view.ts';

const textsOf = (kind: FactKind, entry: 'user' | 'tool_result', text: string): string[] =>
  factsIn(entry, text).flatMap((fact) => (fact.kind === kind ? [fact.text] : []));

describe('what counts as a fact', () => {
  test('requirements: sentences of a user that ask for something', () => {
    const text =
      'Hello there, nice to meet you. The report must name src/app.ts and at most 3 risks.\nNever push to main!';
    expect(textsOf('requirement', 'user', text)).toEqual([
      'The report must name src/app.ts and at most 3 risks.',
      'Never push to main!',
    ]);
    expect(textsOf('requirement', 'tool_result', text)).toEqual([]);
  });

  test('errors: lines of a tool result that speak of one', () => {
    const output = 'compiling …\nerror TS2304: Cannot find name "Plum".\nall good here otherwise\n';
    expect(textsOf('error', 'tool_result', output)).toEqual(['error TS2304: Cannot find name "Plum".']);
  });

  test('paths, identifiers and numbers', () => {
    const text =
      'see ./lib/pear_tree.ts and README.md, call harvestAll or MAX_PEARS at 3fa9c01d; 1,250 pears, 12.5 kg, v2.10.3, port 54321, 80 ms, 7 days';
    expect(textsOf('path', 'tool_result', text)).toEqual(['./lib/pear_tree.ts', 'README.md']);
    expect(textsOf('identifier', 'tool_result', text)).toEqual(['pear_tree', 'harvestAll', 'MAX_PEARS', '3fa9c01d']);
    const orders =
      'order QX-1003, CVE-2024-1234; not UTF-8, SHA-256, ISO-8601, 2026-11-23, GPT-4, X-100, QX-1003-draft';
    expect(textsOf('identifier', 'tool_result', orders)).toEqual(['QX-1003', 'CVE-2024-1234']);
    expect(textsOf('number', 'tool_result', text)).toEqual(['1,250', '12.5', 'v2.10.3', '54321', '80 ms', '7 days']);
  });
});

describe('finding a fact again', () => {
  const said = (text: string, kind: FactKind, fact: string, reworded = true) =>
    saysFact(searchedText(text, reworded), { kind, text: fact });

  test('names and numbers only as whole words', () => {
    expect(said('port 54321 is open', 'number', '54321')).toBe(true);
    expect(said('port 154321 is open', 'number', '54321')).toBe(false);
    expect(said('harvestAllPears', 'identifier', 'harvestAll')).toBe(false);
  });

  test('behind the escapes of JSON that was clipped, too', () => {
    expect(
      said(String.raw`[… 900 characters left out …] limit\nparse_header\tport`, 'identifier', 'parse_header'),
    ).toBe(true);
    expect(said('limit nparse_header', 'identifier', 'parse_header')).toBe(false);
  });

  test('sentences also by most of their words on one line, where rewording is expected', () => {
    const fact = 'The report must name every file and at most three risks.';
    const reworded = '- report: name every file, at most three risks';
    expect(said(reworded, 'requirement', fact)).toBe(true);
    expect(said(reworded, 'requirement', fact, false)).toBe(false);
    expect(said('- report: name\n- every file and at most\n- three risks', 'requirement', fact)).toBe(false);
  });
});

const pooled = (text: string, sources: number[], rank: number): PooledFact => ({
  kind: 'identifier',
  text,
  sources,
  rank,
  cue: '',
});

test('a sample holds facts of dropped entries, the lowest ranks first', () => {
  const pool = [pooled('a', [1], 1), pooled('b', [2, 5], 2), pooled('c', [5], 3), pooled('d', [2], 4)];
  const sample = sampleFacts(pool, (position) => position === 2, 5);
  expect(sample.map((fact) => fact.text)).toEqual(['b']);
  expect(sampleFacts(pool, () => true, 15).map((fact) => fact.text)).toEqual(['a', 'b', 'c']);
});

describe('where facts are', () => {
  const content = (text: string) => [{ type: 'text' as const, text }];
  const view: View = {
    system: 'in_system',
    tools: [],
    messages: [
      { role: 'user', origin: 'summary', content: content(`in_summary in_both\n\n${KEPT_HEADING}\n- in_ledger`) },
      { role: 'user', origin: 'user', content: content('in_user') },
      { role: 'assistant', content: content('in_tail in_both'), callNumber: 1, turnId: 't' },
      { role: 'user', origin: 'note', content: content('in_note') },
    ],
  };
  const facts = ['in_system', 'in_summary', 'in_both', 'in_ledger', 'in_user', 'in_tail', 'in_note', 'gone'].map(
    (text) => pooled(text, [0], 0),
  );

  test('each counts once, the tail first; instructions say none', () => {
    const figures = countSurvivors(facts, view, (fact) => fact.text === 'gone' || fact.text === 'in_tail');
    expect(figures).toEqual({
      facts: 8,
      inView: 6,
      where: { tail: 2, userMessages: 1, summary: 1, ledger: 2 },
      byRecall: 1,
      lost: 1,
    });
  });

  test('with summaries emptied, what only they said is gone', () => {
    const figures = countSurvivors(facts, withoutSummaries(view), null);
    expect(figures).toMatchObject({ inView: 4, where: { summary: 0, ledger: 1 }, byRecall: 0, lost: 4 });
  });
});
