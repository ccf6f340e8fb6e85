import { expect, test } from 'vitest';
import { contextChartLines } from '../../../../src/cli/render/lists/context-chart.ts';
import type { ContextReport } from '../../../../src/client/types.ts';
import { MARKED_STYLE as style } from '../marked-style.ts';

const REPORT = {
  fixed: 1_000,
  summary: 0,
  userMessages: 500,
  assistantMessages: 500,
  toolResults: 2_000,
  notes: 0,
  total: 4_000,
  window: 10_000,
  inputBudget: 8_000,
  model: 'simulator/sim-8k',
  preset: 'default',
  trigger: 6_000,
  target: 3_000,
} as ContextReport;

function lines(changes: Partial<ContextReport> = {}, columns: number | null = 59): string[] {
  return contextChartLines({ ...REPORT, ...changes }, { columns, style });
}

test('tells what fills the window of the next call, by kind, and where compaction begins', () => {
  expect(lines()).toEqual([
    '*simulator/sim-8k* · preset default',
    '~window 10,000 tokens, of which 8,000 for input~',
    '~compaction over 6,000 tokens, down to 3,000~',
    '',
    'instructions, rules, tools  #██#                1,000   13 %',
    'summary                     ##                      0    0 %',
    'user messages               #█#                   500    6 %',
    'assistant messages          #█#                   500    6 %',
    'tool results                #████#              2,000   25 %',
    'notes                       ##                      0    0 %',
    `~${'─'.repeat(58)}~`,
    'total                       +████████+          4,000   50 %',
    'free                        ~████████~          4,000   50 %',
  ]);
});

test('in a narrow terminal it has no bars', () => {
  const [, , , , first] = lines({}, 50);
  expect(first).toBe('instructions, rules, tools  1,000   13 %');
});

test.each([
  [4_800, '+', '3,200'],
  [4_900, '^', '3,100'],
  [6_000, '^', '2,000'],
  [6_001, '!', '1,999'],
  [9_000, '!', '0'],
])('a total of %i is marked %s and leaves %s', (total, mark, free) => {
  const [sum, rest] = lines({ total }).slice(-2);
  expect(sum).toContain(`  ${mark}█`);
  expect(rest).toMatch(new RegExp(String.raw` ${free} +\d+ %$`, 'u'));
});
