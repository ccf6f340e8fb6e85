import { describe, expect, it } from 'vitest';
import { NOTHING_CHOSEN, branchPlan, chooseOfBranch } from '../../src/context/summary/branch-summary.ts';
import { textOf } from '../../src/context/log/content.ts';
import type { Entry, EntryKind } from '../../src/context/log/entry.ts';
import { NO_CALIBRATION, estimateTokens } from '../../src/context/log/estimate.ts';
import { measureContent, measureText } from '../../src/context/log/measure.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { partPolicy } from '../../src/context/summary/check-summary.ts';
import { summaryView } from '../../src/context/summary/summary-request.ts';

let sequence = 0;

/** About `tokens` tokens of text. */
function item(kind: EntryKind, tokens: number): Entry {
  sequence += 1;
  const content = [{ type: 'text', text: 'word '.repeat(tokens) } as const];
  const measurements = measureContent(content);
  return { id: `entry ${sequence}`, sequence, turnId: 'turn', kind, content, measurements };
}

/** The same in whatever pages a branch is read. */
function choose(items: readonly Entry[], budget: number): readonly Entry[] {
  const room = { budget, calibration: NO_CALIBRATION };
  const newestFirst = items.toReversed();
  const whole = chooseOfBranch(NOTHING_CHOSEN, newestFirst, room);
  const oneByOne = newestFirst.reduce((newer, each) => chooseOfBranch(newer, [each], room), NOTHING_CHOSEN);
  expect(oneByOne).toEqual(whole);
  return whole.entries;
}

const sizeOf = ({ measurements }: Entry): number => estimateTokens(measurements, NO_CALIBRATION);

describe('what enters the summary of a branch', () => {
  it('P23 is the whole branch in order, summaries made on it among the rest, tool results left out', () => {
    const items = [
      item('user', 10),
      item('assistant', 10),
      item('tool_result', 900),
      item('branch_summary', 20),
      item('user', 10),
    ];
    expect(choose(items, 10_000)).toEqual(items.filter(({ kind }) => kind !== 'tool_result'));
  });

  it('P24 is the newest within the budget, and ends at the first that does not fit', () => {
    const items = [item('user', 5), item('assistant', 500), item('user', 50), item('assistant', 50)];
    expect(choose(items, 200)).toEqual(items.slice(2));
    // The request shortens it.
    expect(choose(items, 10)).toEqual(items.slice(3));
  });

  it('P24 takes a summary that does not fit while less than 90 % is used, and nothing older', () => {
    const [older, summary, newest] = [item('user', 1), item('branch_summary', 400), item('user', 80)];
    const used = sizeOf(newest);
    expect(choose([older, summary, newest], used + 100)).toEqual([summary, newest]);
    expect(choose([older, summary, newest], Math.floor(used / 0.95))).toEqual([newest]);
  });

  it('never makes a request larger than its window, whatever a summary weighs', () => {
    const entries = [item('branch_summary', 9_000), item('user', 50)];
    const summarizer = { window: 6_000, maximumOutput: 2_048 };
    const { parts } = branchPlan({ fromSequence: 1, toSequence: 2, inputTokens: 2_000, maximumOutput: 2_048 });
    const [part] = parts;
    if (part === undefined) throw new Error('a plan has one part');
    const { view } = summaryView({
      policy: partPolicy(DEFAULT_POLICY, part),
      parts,
      part,
      entries,
      previousSummary: 'of another branch',
      partTexts: [],
      focus: null,
      agent: { instructions: '', rules: [], tools: [] },
      turnIsOpen: false,
      summarizer,
      calibration: NO_CALIBRATION,
    });
    const [message] = view.messages;
    const text = message?.role === 'user' ? textOf(message.content) : '';
    expect(estimateTokens(measureText(view.system + text), NO_CALIBRATION)).toBeLessThanOrEqual(6_000 - 2_048);
    expect(text).toContain('## Next Steps');
    expect(text).not.toContain('of another branch');
    expect(view.tools).toEqual([]);
  });
});
