import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkSummary } from '../../src/context/summary/check-summary.ts';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { extractiveSummary } from '../../src/context/summary/extractive-summary.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { LogBuilder, prose } from './builders.ts';

function log(files: number): LogBuilder {
  const built = new LogBuilder();
  built.user('Read the files and report name, version and licence of each.');
  built.note('plan', '- [ ] read the rest\n- [ ] write report.md');
  for (let file = 0; file < files; file += 1) {
    built.step([`package-${file} version 1.${file}.0 licence MIT\n${prose(3_000, file)}`], {
      said: `Reading ${file}.`,
    });
  }
  return built;
}

function extract(built: LogBuilder, change: Partial<Parameters<typeof extractiveSummary>[0]> = {}): string {
  return extractiveSummary({
    policy: DEFAULT_POLICY,
    entries: built.entries,
    previousSummary: null,
    maximumTokens: 4_000,
    ...change,
  });
}

describe('extractiveSummary', () => {
  test('R21 holds requests, a ledger of results, the plan and the last answer: never a constant', () => {
    const text = extract(log(8));
    expect(text).toContain('Read the files and report name, version and licence of each.');
    for (let file = 0; file < 8; file += 1) expect(text).toContain(`package-${file} version 1.${file}.0 licence MIT`);
    expect(text).toContain('- [ ] write report.md');
    expect(text).toContain('Reading 7.');
    expect(extract(log(3))).not.toBe(text);
  });

  test('R21 passes the check that a written summary has to pass', () => {
    expect(
      checkSummary({
        policy: DEFAULT_POLICY,
        text: extract(log(5)),
        stopReason: 'end',
        calledTool: false,
        maximumOutputTokens: 4_000,
      }),
    ).toMatchObject({ ok: true });
  });

  test('D5 carries on what the previous summary says, section by section', () => {
    const previousSummary =
      '## Completed Items\n- docs/z.md: version 9\n\n## Decisions\n- keep MIT only, because of legal';
    const text = extract(log(2), { previousSummary });
    expect(text).toMatch(/## Completed Items\n- docs\/z\.md: version 9\n- read_file/);
    expect(text).toMatch(/## Decisions\n- keep MIT only/);
  });

  test('D7 when room is short the newest lines stay', () => {
    const text = extract(log(60), { maximumTokens: 900 });
    expect(text).toContain('package-59');
    expect(text).not.toContain('package-0 ');
  });

  test('R18 names in results do not crowd out what was done', () => {
    const built = new LogBuilder();
    built.user('Read the pages.');
    for (let step = 0; step < 60; step += 1) {
      built.step([Array.from({ length: 20 }, (_, page) => `https://example.org/${step}/${page}`).join('\n')]);
    }
    const ledger = extract(built, { maximumTokens: 1_500 })
      .split('\n')
      .filter((line) => line.startsWith('- read_file'));
    expect(ledger.length).toBeGreaterThan(8);
  });

  test('lists identifiers of a result that is JSON without its escapes', () => {
    const built = log(1);
    built.step([JSON.stringify({ stdout: 'paid\nKT-9284\tada@example.org\n' })]);
    expect(extract(built).split('\n')).toEqual(expect.arrayContaining(['- KT-9284', '- ada@example.org']));
  });

  test('tells failures and unknown outcomes', () => {
    const built = log(1);
    built.step(['no such file'], { isError: true });
    built.step(['x', 'y'], { order: [0] });
    expect(extract(built)).toContain('failed: no such file');
    expect(extract(built)).toContain('outcome unknown');
  });

  test('R22 never exceeds its limit and always has all sections', () => {
    const sizes = fc.tuple(fc.nat(30), fc.integer({ min: 300, max: 3_000 }), fc.nat(20_000));
    fc.assert(
      fc.property(sizes, ([files, maximumTokens, previous]) => {
        const previousSummary = previous === 0 ? null : `## Completed Items\n${prose(previous)}`;
        const text = extract(log(files), { maximumTokens, previousSummary });
        expect(estimateTokens(measureText(text), NO_CALIBRATION)).toBeLessThanOrEqual(maximumTokens + 10);
        for (const { title } of DEFAULT_POLICY.summary.sections) expect(text).toContain(`## ${title}`);
      }),
      { numRuns: 12 },
    );
  });
});
