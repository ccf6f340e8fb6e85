import { describe, expect, test } from 'vitest';
import { planCompaction } from '../../src/context/plan/plan-compaction.ts';
import { Conversation, image, prose, text, viewText } from './builders.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { NO_REDUCERS, planOf, reading, withPolicy } from './planning.ts';

describe('what users of such systems ran into', () => {
  test('D1 W10 a forced pass shrinks something even if the estimate says that all is well', () => {
    const conversation = reading(6, 8_000);
    expect(planCompaction(conversation.planInput()).kind).toBe('fits');
    const plan = planOf(conversation, { reason: 'overflow' });
    expect(plan.tokensAfter).toBeLessThan(plan.tokensBefore * 0.7);
  });

  test('R2 a forced pass aims lower than one at the threshold', () => {
    const keep = { ...DEFAULT_POLICY.keep, tail: { fraction: 0.3 } };
    const conversation = reading(14, 8_000, withPolicy({ reduce: [], keep }));
    const atThreshold = planOf(conversation);
    const forced = planOf(conversation, { reason: 'overflow' });
    expect(forced.tokensAfter).toBeLessThan(atThreshold.tokensAfter);
    expect(forced.acceptedTokens).toBeLessThan(atThreshold.acceptedTokens);
  });

  test('D2 a conversation that overflows by images alone can be repaired', () => {
    const seen = new Conversation();
    seen.log.user('look at these');
    for (let step = 0; step < 20; step += 1) seen.log.step([[image(1_500, 1_400)]]);
    expect(planOf(seen, { reason: 'overflow' }).tokensAfter).toBeLessThan(seen.budget.target);
  });

  test.each(['threshold', 'overflow'] as const)(
    "D2 R23 where the newest message's images alone are too much, they are scaled to the tokens that are left, after %s",
    (reason) => {
      const asked = (images: number): Conversation => {
        const conversation = new Conversation();
        conversation.log.user([
          ...text('What is on these?'),
          ...Array.from({ length: images }, () => image(1_500, 1_400)),
        ]);
        return conversation;
      };
      const twenty = asked(20);
      const plan = planOf(twenty, { reason });
      expect(plan.tokensAfter).toBeLessThanOrEqual(twenty.budget.inputBudget);
      expect(plan.tokensAfter).toBeGreaterThan(twenty.budget.inputBudget * 0.8);
      twenty.commit(plan, '');
      const [shown] = twenty.view().messages;
      const sizes =
        shown?.role === 'user' ? shown.content.flatMap((part) => (part.type === 'image' ? [part] : [])) : [];
      expect(sizes).toHaveLength(20);
      expect(sizes.every(({ mostPatches = Infinity }) => mostPatches < 54 * 50 && mostPatches >= 64)).toBe(true);
      expect(viewText(twenty.view())).toContain('What is on these?');
      expect(planCompaction(asked(600).planInput(reason)).kind).toBe('exhausted');
    },
  );

  test("R23 what a user shows goes after all that tools showed, and the newest message's never", () => {
    const conversation = new Conversation({ policy: NO_REDUCERS });
    const first = conversation.log.user([...text('first'), image(1_500, 1_400)]);
    for (let step = 0; step < 6; step += 1) conversation.log.step([[image(1_500, 1_400)]]);
    const newest = conversation.log.user([...text('newest'), image(1_500, 1_400)]);
    conversation.log.step(['done']);
    const plan = planOf(conversation, { reason: 'overflow', form: 'clip_only' });
    const stripped = plan.operations.map(({ entryId }) => entryId);
    expect(stripped).not.toContain(newest.id);
    expect(stripped).not.toContain(first.id);
    for (let step = 0; step < 4; step += 1) conversation.log.user([...text('more'), image(1_500, 1_400)]);
    conversation.log.answer('seen');
    const deeper = planOf(conversation, { reason: 'overflow', form: 'clip_only' });
    expect(deeper.operations.map(({ entryId }) => entryId)).toContain(first.id);
    expect(viewText(conversation.view())).toContain('more');
  });

  test('a result that is clipped to next to nothing still says how to read on', () => {
    const conversation = new Conversation({
      policy: NO_REDUCERS,
      limits: { window: 8_192, maximumOutput: 2_048 },
    });
    conversation.log.user('Read the file.');
    for (let page = 1; page <= 40; page += 1) {
      conversation.log.step([
        `${prose(2_900, page)}\n[lines ${page}–${page + 1} of 1383; read on with offset ${page + 2}]`,
      ]);
    }
    const plan = planOf(conversation, { form: 'clip_only' });
    conversation.commit(plan, '');
    expect(plan.operations.length).toBeGreaterThan(0);
    for (let page = 1; page <= 40; page += 1) expect(viewText(conversation.view())).toContain(`offset ${page + 2}]`);
  });

  test('D9 one giant user message is clipped, head and tail kept', () => {
    const conversation = new Conversation();
    const giant = conversation.log.user(`FIRST ${prose(400_000)} LAST`);
    const plan = planOf(conversation);
    expect(plan).toMatchObject({ form: 'clip_only', parts: [] });
    conversation.commit(plan, '');
    const shown = viewText(conversation.view());
    expect(shown).toContain('FIRST');
    expect(shown).toContain('LAST');
    expect(shown).toContain(`recall_open ${giant.id}`);
    expect(planCompaction(conversation.planInput()).kind).toBe('fits');
  });

  test('D9 an answer with one giant argument is clipped as the very last resort', () => {
    const conversation = new Conversation();
    conversation.log.user('write it');
    conversation.log.step(['written'], {
      tool: 'write_file',
      arguments: JSON.stringify({ path: 'report.md', content: prose(300_000) }),
    });
    const plan = planOf(conversation);
    conversation.commit(plan, '');
    expect(viewText(conversation.view())).toContain('report.md');
    expect(planCompaction(conversation.planInput()).kind).toBe('fits');
  });

  test('R1 exhausted only when the floor is over the window, with what fills it', () => {
    const conversation = reading(2, 400);
    const input = conversation.planInput();
    const letters = 150_000;
    const fixed = { ...input.fixed, letters };
    const result = planCompaction({ ...input, fixed });
    expect(result.kind).toBe('exhausted');
    if (result.kind !== 'exhausted') return;
    expect(result.breakdown.fixed).toBeGreaterThan(result.breakdown.inputBudget);
    const { total, fixed: floor, summary, userMessages, assistantMessages, toolResults, notes } = result.breakdown;
    expect(Math.abs(total - (floor + summary + userMessages + assistantMessages + toolResults + notes))).toBeLessThan(
      6,
    );
  });

  test('R1 over the trigger with nothing to shrink, but within the window: the request goes out', () => {
    const conversation = reading(2, 400);
    const input = conversation.planInput();
    const result = planCompaction({ ...input, fixed: { ...input.fixed, letters: 110_000 } });
    expect(result.kind).toBe('fits');
    expect(planCompaction({ ...input, fixed: { ...input.fixed, letters: 110_000 }, reason: 'overflow' }).kind).toBe(
      'exhausted',
    );
  });

  test('only tool results and no user message can be compacted', () => {
    const conversation = new Conversation({ policy: NO_REDUCERS });
    for (let step = 0; step < 14; step += 1) conversation.log.step([prose(8_000, step)]);
    const plan = planOf(conversation);
    expect(plan).toMatchObject({ form: 'summary', keptSequences: [] });
  });

  test('R26 with a smaller model the same conversation is compacted before the next call', () => {
    const large = new Conversation({ limits: { window: 200_000, maximumOutput: 16_000 } });
    large.log.user('go');
    for (let step = 0; step < 14; step += 1) large.log.step([prose(8_000, step)]);
    expect(planCompaction(large.planInput()).kind).toBe('fits');
    const small = new Conversation();
    small.log.entries.push(...large.log.entries);
    expect(planCompaction(small.planInput()).kind).toBe('planned');
  });
});
