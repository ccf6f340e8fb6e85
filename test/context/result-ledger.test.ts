import { describe, expect, test } from 'vitest';
import { PRESETS } from '../../src/config/presets.ts';
import {
  splitLists,
  callSubject,
  extendLedger,
  LEDGER_LENGTH,
  renderLedger,
  shortSubject,
} from '../../src/context/summary/summary-message.ts';
import type { LedgerResult } from '../../src/context/summary/summary-message.ts';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { wholeSummary } from '../../src/context/summary/whole-summary.ts';
import { prose } from './builders.ts';
import { NO_REDUCERS, planOf, reading } from './planning.ts';

const id = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const result = (number: number, change: Partial<LedgerResult> = {}): LedgerResult => ({
  entryId: id(number),
  tool: 'read_file',
  target: `src/file-${number}.ts`,
  outcome: 'succeeded',
  characters: 1_000 + number,
  ...change,
});
const ROOMY = { maximumTokens: 100_000, recall: true };

describe('the ledger of results', () => {
  test.each([
    ['{"limit":9,"path":"src/a.ts"}', 'src/a.ts'],
    ['{"command":"npm test\\n  -- --run"}', 'npm test -- --run'],
    [JSON.stringify({ query: 'x'.repeat(300) }), `${'x'.repeat(100)} …`],
    ['{"count":3}', ''],
    ['{"path":', ''],
  ])('R18 a call with %s is listed as %j', (written, target) => {
    expect(shortSubject(callSubject(written))).toBe(target);
  });

  test('R18 results are carried from pass to pass, the newest of them; the same call is listed once', () => {
    let ledger: readonly LedgerResult[] = [];
    for (let pass = 0; pass < 5; pass += 1) {
      const left = Array.from({ length: 30 }, (_, index) => result(pass * 30 + index));
      ledger = extendLedger(ledger, [...left, result(7, { entryId: id(1_000 + pass) })]);
    }
    expect(ledger).toHaveLength(LEDGER_LENGTH);
    expect(ledger.at(-1)).toEqual(result(7, { entryId: id(1_004) }));
    expect(ledger.at(-2)?.target).toBe('src/file-149.ts');
    expect(ledger.filter(({ target }) => target === 'src/file-7.ts')).toHaveLength(1);
  });

  test('R18 each line tells the call, its outcome, its size and, with recall, the id that opens it', () => {
    const results = [result(1), result(2, { outcome: 'failed' }), result(3, { tool: 'now', target: '' })];
    expect(renderLedger(results, ROOMY).split('\n').slice(2, -1)).toEqual([
      `read_file src/file-1.ts: 1,001 characters (${id(1)})`,
      `read_file src/file-2.ts: failed, 1,002 characters (${id(2)})`,
      `now: 1,003 characters (${id(3)})`,
    ]);
    const without = renderLedger(results, { ...ROOMY, recall: false });
    expect(without).toContain('read_file src/file-1.ts: 1,001 characters\n');
    expect(without).not.toMatch(/recall|0000-7000/);
  });

  test('R18 the newest lines that fit are shown; a limit of 0 shows none', () => {
    const results = Array.from({ length: 60 }, (_, number) => result(number));
    const shown = renderLedger(results, { maximumTokens: 500, recall: true });
    expect(estimateTokens(measureText(shown), NO_CALIBRATION)).toBeLessThanOrEqual(500);
    expect(shown).toContain('file-59.ts');
    expect(shown).not.toContain('file-9.ts');
    expect(renderLedger(results, { maximumTokens: 0, recall: true })).toBe('');
  });
});

describe.each(Object.values(PRESETS))('preset $name', (policy) => {
  const { budget } = reading(1, 10, policy).planInput();
  const parts = [{ kind: 'history' as const, text: '## Goal\nX' }];
  const files = { read: ['docs/read.md'], modified: ['src/changed.ts'], results: [result(1), result(2)] };
  const whole = (change: object = {}): string =>
    wholeSummary({ parts, previousText: null, files, policy, budget, plan: {}, recall: true, ...change })?.text ?? '';

  test('R18 the ledger stands below the summary of every preset, apart from what the model wrote', () => {
    expect(whole()).toContain(`read_file src/file-2.ts: 1,002 characters (${id(2)})`);
    expect(splitLists(whole()).written).toBe('## Goal\nX');
  });

  test('R18 results that stay in the view, shortened in place, are not listed once more', () => {
    expect(whole({ plan: { inPlace: true } })).not.toContain('src/file-2.ts');
  });

  test('R18 files are listed by the program, by name or as results', () => {
    const listed = /<read-files>\ndocs\/read\.md\n[\s\S]*<modified-files>\nsrc\/changed\.ts\n/;
    expect(whole()).toMatch(policy.summary.fileLists === null ? /read_file src\/file-2\.ts/ : listed);
  });
});

describe('the way back', () => {
  const framed = (recall: boolean) => {
    const conversation = reading(14, 8_000, NO_REDUCERS);
    return { conversation, plan: planOf(conversation, { recall }) };
  };

  test('a summary names the tools that open what it stands for, and the newest entry that left', () => {
    const { conversation, plan } = framed(true);
    const left = conversation.log.entries.filter(({ sequence }) => sequence < (plan.firstKeptSequence ?? 0));
    expect(plan.shown?.framing.opening).toContain('recall_search');
    expect(plan.shown?.framing.opening).toContain(`the newest that was taken out is ${left.at(-1)?.id}`);
    conversation.commit(plan, prose(3_000));
    const before = JSON.stringify(conversation.view().messages.slice(0, 3));
    expect(before).toContain(left.at(-1)?.id);
    conversation.log.step([prose(2_000)]);
    expect(JSON.stringify(conversation.view().messages.slice(0, 3))).toBe(before);
  });

  test('an agent without recall reads of no tool that it does not have', () => {
    expect(framed(false).plan.shown?.framing.opening).not.toContain('recall');
  });

  test('words of a policy of its own stay as they are', () => {
    const framing = { opening: 'Before.', closing: '' };
    const policy = { ...NO_REDUCERS, summary: { ...DEFAULT_POLICY.summary, framing } };
    expect(planOf(reading(14, 8_000, policy), { recall: true }).shown?.framing).toEqual(framing);
  });
});
