import { describe, expect, test } from 'vitest';
import { budgetFor } from '../../src/context/policy/budget.ts';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { planCompaction } from '../../src/context/plan/plan-compaction.ts';
import type { PlanInput, PlanResult } from '../../src/context/plan/plan.ts';
import { BUILT_IN_PRESETS } from '../../src/context/policy/presets/index.ts';
import { Conversation, image, prose, text } from './builders.ts';

const LIMITS = { window: 32_768, maximumOutput: 8_192 };

/** Plans until nothing changes any more, as a turn would, and gives the last result. */
function settle(conversation: Conversation, change: Partial<PlanInput> = {}): { result: PlanResult; passes: number } {
  for (let passes = 0; ; passes += 1) {
    const result = planCompaction({ ...conversation.planInput('threshold'), ...change });
    if (result.kind !== 'planned' || passes === 5) return { result, passes };
    conversation.commit(result.plan, 'The user asked for a report; nothing is open.');
  }
}

type Log = Pick<PlanInput, 'entries' | 'turnId'>;

let manyTinyEntries: Log | undefined;

/** 25,000 of them, the same for all presets. */
function tinyEntries(): Log {
  if (manyTinyEntries !== undefined) return manyTinyEntries;
  const conversation = new Conversation({ limits: LIMITS });
  for (let turn = 0; turn < 8_334; turn += 1) {
    conversation.log.user('Go on.');
    conversation.log.step(['ok']);
  }
  const { entries, turnId } = conversation.planInput();
  manyTinyEntries = { entries, turnId };
  return manyTinyEntries;
}

describe.each([...BUILT_IN_PRESETS])('bad input with preset $name', (policy) => {
  const start = (): Conversation => new Conversation({ policy, limits: LIMITS });

  const shapes: Readonly<Record<string, (conversation: Conversation) => void>> = {
    'one giant message': ({ log }) => {
      log.user(prose(400_000));
    },
    'only images': ({ log }) => {
      log.user('Look.');
      log.step([Array.from({ length: 60 }, () => image(1_500, 1_500))]);
    },
    'only tool results': ({ log }) => {
      for (let index = 0; index < 12; index += 1) {
        const result = { callNumber: 1, callIndex: index, toolName: 'read_file', isError: false } as const;
        log.add({ kind: 'tool_result', ...result, content: text(prose(20_000, index)) });
      }
    },
    'no user message': ({ log }) => {
      for (let step = 0; step < 12; step += 1) log.step([prose(20_000, step)]);
    },
    'lone surrogates, NUL and base64': ({ log }) => {
      log.user(`\ud800 begins, \udc00 ends, \u0000 between ${'\ud83d'.repeat(200)}`);
      log.step([Buffer.alloc(3_000_000, 7).toString('base64')]);
      log.answer('Read.');
      log.user(`And this? \u0000\udfff ${prose(2_000)}`);
    },
  };

  test.each(Object.entries(shapes))(
    '%s: one pass makes it fit, nothing is left to plan then, and the log stays as it is',
    (_, shape) => {
      const conversation = start();
      shape(conversation);
      const originals = structuredClone(conversation.log.entries);
      const { result, passes } = settle(conversation);
      expect(passes).toBe(1);
      expect(conversation.log.entries.slice(0, originals.length)).toEqual(originals);
      expect(result).toMatchObject({ kind: 'fits' });
      expect(result.kind === 'fits' && result.tokens <= conversation.budget.inputBudget).toBe(true);
      // The view can be made, whatever is in it.
      expect(conversation.view().messages.length).toBeGreaterThan(0);
    },
  );

  test('25,000 tiny entries are planned, or said to be too much, in seconds', { timeout: 60_000 }, () => {
    const result = planCompaction({ ...start().planInput(), ...tinyEntries() });
    // Its document never drops an entry and never shortens one below 500 characters: nothing may be made smaller.
    expect(result.kind).toBe(policy.name === 'wolffish' ? 'exhausted' : 'planned');
    if (result.kind === 'planned') expect(result.plan.tokensAfter).toBeLessThan(result.plan.tokensBefore);
    if (result.kind === 'exhausted') expect(result.breakdown.userMessages).toBeGreaterThan(LIMITS.window);
  });

  test('R1 a window smaller than the system prompt is exhausted, with what fills it', () => {
    const conversation = start();
    conversation.log.user('Hello.');
    const fixed = { ...NO_MEASUREMENTS, letters: 400_000 };
    const result = planCompaction({ ...conversation.planInput('overflow'), fixed });
    expect(result).toMatchObject({ kind: 'exhausted' });
    if (result.kind !== 'exhausted') return;
    expect(result.breakdown.fixed).toBeGreaterThan(LIMITS.window);
    const { total, fixed: ofPrompt, userMessages } = result.breakdown;
    expect(total).toBeGreaterThanOrEqual(ofPrompt + userMessages);
    expect(result.breakdown.inputBudget).toBe(budgetFor(policy, LIMITS).inputBudget);
  });
});
