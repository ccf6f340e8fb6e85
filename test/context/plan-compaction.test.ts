import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { planCompaction, weakerForm } from '../../src/context/plan/plan-compaction.ts';
import { Conversation, image, prose } from './builders.ts';
import { NO_REDUCERS, planOf, reading, withPolicy } from './planning.ts';

const IF_NEEDED = { ...DEFAULT_POLICY.summary, when: 'if_needed' } as const;

describe('trigger', () => {
  test('below the trigger nothing is planned, above it something is', () => {
    const small = reading(3, 8_000);
    expect(planCompaction(small.planInput())).toMatchObject({ kind: 'fits' });
    expect(planCompaction(reading(14, 8_000).planInput()).kind).toBe('planned');
  });

  test('P5 switched off it never compacts, and a reported overflow is exhausted', () => {
    const off = reading(14, 8_000, withPolicy({ enabled: false }));
    expect(planCompaction(off.planInput()).kind).toBe('fits');
    expect(planCompaction(off.planInput('overflow')).kind).toBe('exhausted');
  });

  test('R3 only the view decides: usage is no input of the plan, and a compacted view fits', () => {
    const conversation = reading(14, 8_000);
    conversation.commit(planOf(conversation), 'Summary.');
    expect(planCompaction(conversation.planInput()).kind).toBe('fits');
  });
});

test('beside a large system prompt in a small window the summary still has room for what was found', () => {
  const limits = { window: 8_192, maximumOutput: 4_096 };
  const conversation = new Conversation({ limits });
  conversation.log.user(`Read these files: ${prose(1_600)}`);
  for (let file = 0; file < 6; file += 1) conversation.log.step([prose(3_000, file + 1)]);
  const fixed = measureText(prose(8_800));
  const plan = planOf(conversation, { fixed });
  expect(estimateTokens(fixed, NO_CALIBRATION)).toBeGreaterThan(1_700);
  expect(plan.form).toBe('summary');
  expect(plan.summaryLimit).toBeGreaterThan(550);
});

test('beside a large system prompt the policy says how much of the room a view may take', () => {
  const fixed = measureText(prose(60_000));
  const acceptedWith = (leastRoom: number | null): number => {
    const conversation = new Conversation({
      policy: withPolicy({ leastRoom }),
      limits: { window: 32_000, maximumOutput: 8_000 },
    });
    conversation.log.user('go');
    for (let file = 0; file < 20; file += 1) conversation.log.step([prose(3_000, file + 1)]);
    return planOf(conversation, { fixed }).acceptedTokens;
  };
  const room = 23_552 - estimateTokens(fixed, NO_CALIBRATION);
  expect(room).toBeGreaterThan(8_000);
  expect(acceptedWith(null) - acceptedWith(0.4)).toBeCloseTo(room / 10, -2);
  expect(acceptedWith(0.5)).toBe(acceptedWith(null));
});

describe('free reductions', () => {
  test('come first, and when they reach the target no model is called', () => {
    const plan = planOf(reading(14, 8_000, withPolicy({ summary: IF_NEEDED })));
    expect(plan).toMatchObject({ form: 'reduction', parts: [], firstKeptSequence: null, summaryLimit: 0 });
    expect(plan.tokensAfter).toBeLessThanOrEqual(plan.acceptedTokens);
  });

  test('W12 clip the largest results first and leave errors and the newest three', () => {
    const clips = DEFAULT_POLICY.reduce.filter(({ use }) => use === 'clip');
    const conversation = new Conversation({ policy: withPolicy({ reduce: clips, summary: IF_NEEDED }) });
    conversation.log.user('go');
    const [, failed] = conversation.log.step([prose(15_000)], { isError: true });
    const [, small] = conversation.log.step([prose(3_000)]);
    const [, large] = conversation.log.step([prose(66_000)]);
    const newest = [1, 2, 3].map(() => conversation.log.step([prose(9_500)])[1]);
    const clipped = planOf(conversation).operations.map((operation) => operation.entryId);
    expect(clipped).toContain(large?.id);
    for (const entry of [failed, small, ...newest]) expect(clipped).not.toContain(entry?.id);
  });

  test('O19 O20 old results beyond the protected output are cleared, oldest first, only if that wins enough', () => {
    const policy = (minimum: number) => {
      const options = { protect: { tokens: 20_000 }, minimum: { tokens: minimum } };
      return withPolicy({ reduce: [{ use: 'clear_tool_results', options }], summary: IF_NEEDED });
    };
    const cleared = planOf(reading(14, 8_000, policy(10_000)));
    expect(cleared.form).toBe('reduction');
    const ids = cleared.operations.filter((operation) => operation.kind === 'clear').map(({ entryId }) => entryId);
    expect(ids[0]).toMatch(/003$/);
    expect(ids).toEqual(ids.toSorted());
    expect(planOf(reading(14, 8_000, policy(90_000))).form).toBe('summary');
  });

  test('O16 results of protected tools and of failed calls stay', () => {
    const options = { protect: { tokens: 0 }, minimum: { tokens: 0 }, protectedTools: ['skill'] };
    const clear = { use: 'clear_tool_results', options };
    const conversation = new Conversation({
      policy: withPolicy({ reduce: [clear], target: null, summary: IF_NEEDED }),
    });
    conversation.log.user('go');
    const [, skill] = conversation.log.step([prose(9_000)], { tool: 'skill' });
    const [, failed] = conversation.log.step([prose(9_000)], { isError: true });
    for (let step = 0; step < 12; step += 1) conversation.log.step([prose(9_000)]);
    const cleared = planOf(conversation).operations.map(({ entryId }) => entryId);
    expect(cleared).not.toContain(skill?.id);
    expect(cleared).not.toContain(failed?.id);
    expect(cleared.length).toBeGreaterThan(5);
  });

  test('R24 an image that no request has carried yet stays, older ones become markers', () => {
    const conversation = new Conversation({
      policy: withPolicy({ reduce: [{ use: 'strip_images', options: { keepNewest: 0 } }], summary: IF_NEEDED }),
    });
    conversation.log.user('look');
    const old = Array.from({ length: 8 }, () => conversation.log.step([[image(1_500, 1_400)]])[1]);
    const [, fresh] = conversation.log.step([[image(1_500, 1_400)]]);
    const stripped = planOf(conversation).operations.filter(({ kind }) => kind === 'strip');
    expect(stripped.map(({ entryId }) => entryId)).not.toContain(fresh?.id);
    expect(stripped.map(({ entryId }) => entryId)).toContain(old[0]?.id);
  });

  test('notes that a newer one has replaced are cleared', () => {
    const conversation = reading(14, 8_000);
    const notes = ['one', 'two', 'three'].map((value) => conversation.log.note('plan', value));
    conversation.log.step([prose(2_000)]);
    const operations = planOf(conversation).operations.filter(({ kind }) => kind === 'clear');
    const cleared = operations.map(({ entryId }) => entryId);
    expect(cleared).toEqual(expect.arrayContaining([notes[0]?.id, notes[1]?.id]));
    expect(cleared).not.toContain(notes[2]?.id);
  });
});

describe('summary', () => {
  test('P7 P13 keeps the newest entries within the tail and covers everything before', () => {
    const conversation = reading(14, 8_000, NO_REDUCERS);
    const plan = planOf(conversation);
    expect(plan).toMatchObject({ form: 'summary', coveredThroughSequence: (plan.firstKeptSequence ?? 0) - 1 });
    const kept = conversation.log.entries.filter((entry) => entry.sequence >= (plan.firstKeptSequence ?? 0));
    expect(kept[0]?.kind).toBe('assistant');
    expect(kept.length).toBeGreaterThan(1);
    expect(plan.parts.findLast((part) => part.toSequence !== undefined)?.toSequence).toBe(plan.coveredThroughSequence);
  });

  const firstKept = (conversation: Conversation) => {
    const { firstKeptSequence } = planOf(conversation);
    return conversation.log.entries.find(({ sequence }) => sequence === firstKeptSequence)?.kind;
  };

  test('P10 G13 a turn larger than the tail is split', () => {
    expect(firstKept(reading(14, 8_000, NO_REDUCERS))).toBe('assistant');
    const conversation = reading(12, 8_000, NO_REDUCERS);
    conversation.log.answer(prose(6_000));
    conversation.log.user('Now the next thing.');
    conversation.log.step([prose(8_000)]);
    expect(firstKept(conversation)).toBe('user');
  });

  test('without splitting, the cut moves to a user message; a single giant turn is split all the same (D9)', () => {
    const whole = withPolicy({ reduce: [], keep: { ...DEFAULT_POLICY.keep, splitTurns: false } });
    const conversation = reading(10, 8_000, whole);
    const second = conversation.log.user('Now the next thing.');
    for (let step = 0; step < 4; step += 1) conversation.log.step([prose(8_000, step)]);
    expect(planOf(conversation).firstKeptSequence).toBe(second.sequence);
    expect(firstKept(reading(14, 8_000, whole))).toBe('assistant');
  });

  test('R17 older user messages are kept, newest first, within their budget; the newest always', () => {
    const conversation = new Conversation({ policy: NO_REDUCERS });
    const old = conversation.log.user(`Old request. ${prose(9_000)}`);
    conversation.log.answer('ok');
    const pasted = conversation.log.user(`A pasted log: ${prose(40_000)}`);
    conversation.log.answer('ok');
    const short = conversation.log.user('Short request.');
    const newest = conversation.log.user('Newest request.');
    for (let step = 0; step < 12; step += 1) conversation.log.step([prose(6_000, step)]);
    const { keptSequences } = planOf(conversation);
    expect(keptSequences).toEqual([old.sequence, short.sequence, newest.sequence]);
    expect(keptSequences).not.toContain(pasted.sequence);
  });

  test('R17 the newest user message stays even if it is larger than the budget', () => {
    const conversation = new Conversation({ policy: NO_REDUCERS });
    conversation.log.user('Old request.');
    conversation.log.answer('ok');
    const newest = conversation.log.user(`Compare this log: ${prose(8 * conversation.budget.userMessages)}`);
    for (let step = 0; step < 10; step += 1) conversation.log.step([prose(8_000, step)]);
    expect(planOf(conversation).keptSequences).toContain(newest.sequence);
  });

  test('D5 the next pass covers what the summary does not, and reads on from there', () => {
    const conversation = reading(14, 8_000, NO_REDUCERS);
    const first = planOf(conversation);
    conversation.commit(first, prose(3_000));
    for (let step = 0; step < 14; step += 1) conversation.log.step([prose(8_000, step)]);
    const second = planOf(conversation);
    const from = Math.min(...second.parts.map((part) => part.fromSequence ?? Infinity));
    expect(from).toBe(first.firstKeptSequence);
  });
});

describe('continuation', () => {
  test('W4 R14 a pass inside a turn that has made a step asks for a note', () => {
    expect(planOf(reading(14, 8_000)).continuation).toBe(true);
    expect(planOf(reading(6, 8_000), { reason: 'manual' }).continuation).toBe(true);
  });

  test('R15 before the first step of a turn, or while waiting for the user, there is none', () => {
    const conversation = reading(14, 8_000);
    conversation.log.answer('Done.');
    conversation.log.user('And now?');
    expect(planOf(conversation).continuation).toBe(false);
    expect(planOf(conversation, { turnId: 'a-turn-of-a-command' }).continuation).toBe(false);
  });

  test('W4 there is one after each compaction, also where the turn had other notes to go on', () => {
    const conversation = reading(14, 8_000);
    for (let cut = 0; cut < 4; cut += 1) conversation.log.note('continuation', 'Your answer was cut: go on.');
    expect(planOf(conversation).continuation).toBe(true);
  });

  test('the policy may ask for one always or never', () => {
    const always = reading(14, 8_000, withPolicy({ continuation: 'always' }));
    expect(planOf(always, { turnId: 'another' }).continuation).toBe(true);
    expect(planOf(reading(14, 8_000, withPolicy({ continuation: 'never' }))).continuation).toBe(false);
  });
});

describe('weaker forms', () => {
  test('lead from reducing to clipping, and then nowhere', () => {
    const chain: string[] = [];
    for (let form = weakerForm('reduction'); form !== null; form = weakerForm(form)) chain.push(form);
    expect(chain).toEqual(['summary', 'shorter_summary', 'extractive_summary', 'clip_only']);
  });

  test('each can be asked for; a shorter summary is shorter, an extractive one asks no model', () => {
    const conversation = reading(14, 8_000, NO_REDUCERS);
    const full = planOf(conversation, { form: 'summary' });
    const shorter = planOf(conversation, { form: 'shorter_summary' });
    expect(shorter.form).toBe('shorter_summary');
    expect(shorter.summaryLimit).toBeLessThanOrEqual(full.summaryLimit / 2 + 1);
    const extractive = planOf(conversation, { form: 'extractive_summary' });
    expect(extractive.parts).toHaveLength(1);
    expect(extractive.parts[0]).toMatchObject({ wave: 1, kind: 'history', inputTokens: 0 });
    expect(planOf(conversation, { form: 'clip_only' })).toMatchObject({ form: 'clip_only', firstKeptSequence: null });
  });

  test('a policy without summaries reduces and clips only', () => {
    const never = withPolicy({ reduce: [], summary: { ...DEFAULT_POLICY.summary, when: 'never' } });
    expect(planOf(reading(14, 8_000, never)).form).toBe('clip_only');
  });

  test('a policy that always summarizes does so even if reducing would do', () => {
    const always = withPolicy({ summary: { ...DEFAULT_POLICY.summary, when: 'always' } });
    expect(planOf(reading(14, 8_000, always)).form).toBe('summary');
  });

  test('D10 a larger minimum gain refuses what a smaller one accepts', () => {
    const conversation = (minimumGain: number) => reading(14, 8_000, withPolicy({ minimumGain }));
    expect(planCompaction(conversation(0.1).planInput()).kind).toBe('planned');
    expect(planCompaction(conversation(0.95).planInput()).kind).toBe('fits');
  });
});
