import { describe, expect, test } from 'vitest';
import { continuationText } from '../../src/context/view/notes.ts';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { fixedMeasurements } from '../../src/context/view/system-text.ts';
import { judgeCompaction } from '../../src/context/plan/plan-compaction.ts';
import { breakdownWindow, measureView } from '../../src/context/view/view-arrangement.ts';
import { clearOperation } from '../../src/context/log/operations.ts';
import { AGENT, Conversation, prose } from './builders.ts';
import { measuredFromText } from './view-checks.ts';

function conversation(): Conversation {
  const built = new Conversation();
  built.log.note('rules', 'Use tabs.');
  built.log.user('Go.');
  built.log.step([prose(4_000), prose(2_000)], { said: 'Reading.' });
  built.log.note('plan', '1. read');
  built.log.answer('Done.');
  return built;
}

describe('measureView', () => {
  test('measures what projectView shows', () => {
    const built = conversation();
    const planned = estimateTokens(measureView(built.planInput()), NO_CALIBRATION);
    const shown = estimateTokens(measuredFromText(built.view()), NO_CALIBRATION);
    expect(Math.abs(planned - shown)).toBeLessThan(30);
  });

  test('counts an entry as its newest operation shows it', () => {
    const built = conversation();
    const before = estimateTokens(measureView(built.planInput()), NO_CALIBRATION);
    const result = built.log.entries.find((entry) => entry.kind === 'tool_result');
    if (result === undefined) throw new Error('no result');
    built.operations = [clearOperation(result)];
    const after = estimateTokens(measureView(built.planInput()), NO_CALIBRATION);
    expect(before - after).toBeGreaterThan(800);
  });

  test('breaks the window down by kind, and the kinds make the total', () => {
    const built = conversation();
    const breakdown = breakdownWindow(built.planInput());
    const { fixed, summary, userMessages, assistantMessages, toolResults, notes, total } = breakdown;
    expect(toolResults).toBeGreaterThan(assistantMessages);
    expect([summary, userMessages > 0, notes > 0]).toEqual([0, true, true]);
    expect(Math.abs(fixed + summary + userMessages + assistantMessages + toolResults + notes - total)).toBeLessThan(6);
    expect(breakdown).toMatchObject({ window: 32_768, inputBudget: 26_215 });
  });

  test('the fixed part grows with instructions, rules and tools', () => {
    const tokens = (agent: typeof AGENT): number => estimateTokens(fixedMeasurements(agent), NO_CALIBRATION);
    expect(tokens(AGENT)).toBeGreaterThan(tokens({ ...AGENT, tools: [] }));
    expect(tokens({ ...AGENT, rules: [...AGENT.rules, prose(400)] })).toBeGreaterThan(tokens(AGENT) + 50);
    expect(tokens({ ...AGENT, instructions: prose(4_000) })).toBeGreaterThan(tokens(AGENT) + 500);
  });
});

describe('judgeCompaction', () => {
  const judged = {
    plan: { acceptedTokens: 14_000, requiredGain: 3_000 },
    budget: { inputBudget: 26_000 },
    tokensBefore: 24_000,
    lastForm: false,
  };

  test.each([
    [12_000, 'accepted'],
    [14_000, 'accepted'],
    [14_001, 'over_target'],
    [21_500, 'too_little_won'],
    [24_000, 'not_smaller'],
    [30_000, 'not_smaller'],
  ] as const)('R5 R7 R22 a view of %i tokens after the pass is %s', (tokensAfter, verdict) => {
    expect(judgeCompaction({ ...judged, tokensAfter })).toBe(verdict);
  });

  test('of the last form, what is smaller and fits is accepted', () => {
    expect(judgeCompaction({ ...judged, lastForm: true, tokensAfter: 23_000 })).toBe('accepted');
    expect(judgeCompaction({ ...judged, lastForm: true, tokensBefore: 40_000, tokensAfter: 30_000 })).toBe(
      'over_window',
    );
  });
});

describe('continuationText', () => {
  test('W4 W26 says that the context was compacted, to go on, and not to finish early or redo work', () => {
    const text = continuationText();
    expect(text).toMatch(/compacted/);
    expect(text).toMatch(/Continue where you left off/);
    expect(text).toMatch(/not give a final answer until all steps are complete/);
    expect(text).toMatch(/not redo completed work/);
    expect(text).toContain('recall_search');
    expect(continuationText({ recall: false })).not.toContain('recall_');
  });
});
