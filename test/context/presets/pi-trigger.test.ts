import { describe, expect, test } from 'vitest';
import { budgetFor, policyTokens } from '../../../src/context/policy/budget.ts';
import { measureContent } from '../../../src/context/log/measure.ts';
import { NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import { PI_POLICY } from '../../../src/context/policy/presets/pi.ts';
import { image, prose, text } from '../builders.ts';
import { counted, LARGE, large, planAt } from './counted.ts';

/** About as many tokens of prose as pi counts: four characters each. */
const tokens = (count: number, seed = 1): string => prose(count * 4, seed);

const TURNS = 46;

/** Finished turns of 4,000 tokens each, that fill the window. */
function fullWindow() {
  const conversation = large(PI_POLICY);
  for (let turn = 1; turn <= TURNS; turn += 1) {
    conversation.log.user(`request ${turn}: ${tokens(1_000, turn)}`);
    conversation.log.answer(`answer ${turn}: ${tokens(3_000, turn)}`);
  }
  return conversation;
}

describe('trigger', () => {
  test('P4 a pass is due when context tokens are over the window less the reserve, and not at it', () => {
    const conversation = fullWindow();
    const since = conversation.log.entries.length + 1;
    const limit = 200_000 - 16_384;
    expect(counted(conversation, { input: limit, output: 0, since })).toMatchObject({ tokens: limit, isDue: false });
    expect(counted(conversation, { input: limit, output: 1, since }).isDue).toBe(true);
  });

  test('P5 the defaults are: enabled, 16,384 tokens reserved, 20,000 kept', () => {
    expect(PI_POLICY.enabled).toBe(true);
    const { outputReserve, tail } = budgetFor(PI_POLICY, LARGE);
    expect({ outputReserve, tail }).toEqual({ outputReserve: 16_384, tail: 20_000 });
  });

  test('P5 switched off, nothing is ever compacted, and an overflow ends in exhaustion', () => {
    const conversation = large({ ...PI_POLICY, enabled: false });
    conversation.log.user(tokens(90_000));
    conversation.log.answer(tokens(90_000));
    conversation.log.answer(tokens(90_000));
    expect(counted(conversation, { input: 300_000, output: 0, since: 99 }).isDue).toBe(false);
    expect(planCompaction(conversation.planInput('threshold')).kind).toBe('fits');
    expect(planCompaction(conversation.planInput('overflow')).kind).toBe('exhausted');
  });

  test('P6 P12 P33 the count is the newest usage, its answer, and an estimate of what follows', () => {
    const conversation = large(PI_POLICY);
    conversation.log.user('Read.');
    const [answer] = conversation.log.step([tokens(2_000)]);
    const since = (answer?.sequence ?? 0) + 1;
    expect(counted(conversation, { input: 5_000, output: 300, since }).tokens).toBe(5_000 + 300 + 2_000);
  });

  test('P6 tool results that trail a successful usage are counted, not only messages after it', () => {
    const conversation = large(PI_POLICY);
    conversation.log.user('Read.');
    const [answer] = conversation.log.step([tokens(2_000)]);
    const since = (answer?.sequence ?? 0) + 1;
    const report = { input: 182_000, output: 0, since };
    expect(counted(conversation, report).isDue).toBe(true);
    expect(counted(conversation, { ...report, since: since + 1 }).isDue).toBe(false);
  });

  test('P32 P38 with no usage since the newest compaction nothing is counted, and no pass is due', () => {
    const conversation = large(PI_POLICY);
    conversation.log.user(tokens(80_000));
    // By its own ratio the view is over the trigger; the calibrated estimate says that it fits.
    const dense = { ...PI_POLICY, window: 90_000 };
    const small = large(dense);
    small.log.user(tokens(74_500));
    expect(counted(small)).toMatchObject({ tokens: null, isDue: false });
    expect(counted(conversation)).toMatchObject({ tokens: null, isDue: false });
  });

  test('P34 after a pass the count that made it due would do so again; the store gives none that is so old', () => {
    const conversation = fullWindow();
    const before = { input: 190_000, output: 0, since: conversation.log.entries.length + 1 };
    expect(counted(conversation, before).isDue).toBe(true);
    conversation.commit(planAt(conversation), '## Goal\n- go on');
    expect(conversation.log.entries.at(-1)?.kind).toBe('compaction');
    expect(counted(conversation, before).isDue).toBe(true);
    expect(counted(conversation)).toMatchObject({ tokens: null, isDue: false });
    conversation.log.user('Go on.');
    conversation.log.answer('done');
    const newer = { input: 30_000, output: 10, since: conversation.log.entries.length + 1 };
    expect(counted(conversation, newer)).toMatchObject({ tokens: 30_010, isDue: false });
  });

  test('P11 an entry counts a quarter of its characters, and an image 4,800 characters', () => {
    const { counting } = PI_POLICY;
    const count = (content: ReturnType<typeof text>): number =>
      policyTokens(counting, measureContent(content), NO_CALIBRATION);
    expect(count(text('x'.repeat(400)))).toBe(100);
    expect(count([image()])).toBe(1_200);
    const conversation = large(PI_POLICY);
    conversation.log.user('Begin.');
    conversation.log.answer(tokens(90_000));
    // 17 images of 1,200 tokens reach 20,000.
    for (let index = 0; index < 30; index += 1) conversation.log.user([image()]);
    const plan = planAt(conversation);
    expect(conversation.log.entries.length - (plan.firstKeptSequence ?? 0) + 1).toBe(17);
  });

  test('P11 what stays is the sum of entries that are each rounded up', () => {
    const conversation = large(PI_POLICY);
    conversation.log.user('Begin.');
    conversation.log.answer(tokens(90_000));
    // 199 of 101 tokens reach 20,000; unrounded they would be 19,950, and one more would stay.
    for (let index = 0; index < 300; index += 1) conversation.log.user(prose(401, index));
    const plan = planAt(conversation);
    expect(conversation.log.entries.length - (plan.firstKeptSequence ?? 0) + 1).toBe(199);
  });
});
