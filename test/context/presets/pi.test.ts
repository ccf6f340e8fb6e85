import { describe, expect, test } from 'vitest';
import { composeSummary } from '../../../src/context/summary/whole-summary.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import { PI_POLICY } from '../../../src/context/policy/presets/pi.ts';
import { prose, text, viewText } from '../builders.ts';
import { large, planAt } from './counted.ts';

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

/** A finished turn, and one with `steps` steps of 4,000 tokens. */
function longTurn(steps = 40) {
  const conversation = large(PI_POLICY);
  conversation.log.user('An older request.');
  conversation.log.answer(tokens(10_000));
  conversation.log.user('The long request.');
  for (let step = 1; step <= steps; step += 1) conversation.log.step([tokens(4_000, step)], { said: `step ${step}` });
  return conversation;
}

describe('cut', () => {
  test('P10 P36 a cut inside a turn is a split turn that begins at the message which opened it', () => {
    const conversation = longTurn();
    const plan = planAt(conversation);
    const prefix = plan.parts.find((part) => part.kind === 'turn_prefix');
    expect(conversation.log.entries[(prefix?.fromSequence ?? 0) - 1]?.kind).toBe('user');
    expect(prefix?.fromSequence).toBe(3);
    expect(prefix?.toSequence).toBe((plan.firstKeptSequence ?? 0) - 1);
  });

  test('P36 a branch summary opens a turn too', () => {
    const conversation = large(PI_POLICY);
    conversation.log.user('An older request.');
    conversation.log.answer(tokens(10_000));
    conversation.log.add({ kind: 'branch_summary', content: text('What the other branch found.') });
    for (let step = 0; step < 40; step += 1) conversation.log.step([tokens(4_000, step)]);
    const prefix = planAt(conversation).parts.find((part) => part.kind === 'turn_prefix');
    expect(prefix?.fromSequence).toBe(3);
  });

  test('P36 the walk does not go behind the newest compaction', () => {
    const conversation = fullWindow();
    conversation.commit(planAt(conversation), '## Goal\nAll.');
    conversation.log.user(tokens(90_000));
    conversation.log.answer(tokens(12_000));
    const first = conversation.summary?.firstKeptSequence ?? 0;
    expect(planAt(conversation, { reason: 'manual' }).firstKeptSequence).toBeGreaterThan(first);
  });

  test('P13 P30 the view is the summary, then everything from the cut on word for word', () => {
    const conversation = fullWindow();
    const plan = planAt(conversation);
    conversation.commit(plan, '## Goal\nTHE CHECKPOINT');
    const { messages } = conversation.view();
    const kept = conversation.log.entries.filter((entry) => entry.sequence >= (plan.firstKeptSequence ?? 0));
    expect(viewText({ ...conversation.view(), messages: messages.slice(0, 1) })).toContain('THE CHECKPOINT');
    expect(messages.slice(1).map((message) => ('content' in message ? message.content : []))).toEqual(
      kept.filter((entry) => entry.kind !== 'compaction').map((entry) => entry.content),
    );
  });

  test('P30 four messages, a compaction and two more give five messages; only the newest compaction counts', () => {
    const conversation = large({ ...PI_POLICY, keep: { ...PI_POLICY.keep, tail: { tokens: 5, exact: true } } });
    conversation.log.user('u1');
    conversation.log.answer(tokens(60_000));
    conversation.log.user('u2, in more than twenty characters');
    conversation.log.answer('a2');
    conversation.commit(planAt(conversation, { reason: 'manual' }), 'FIRST');
    conversation.log.user('u3');
    conversation.log.answer('a3');
    expect(conversation.view().messages).toHaveLength(5);
    conversation.log.answer(tokens(60_000));
    conversation.log.user('u4, in more than twenty characters');
    conversation.log.answer('a4');
    conversation.commit(planAt(conversation, { reason: 'manual' }), 'SECOND');
    expect(viewText(conversation.view())).toContain('SECOND');
    expect(viewText(conversation.view())).not.toContain('FIRST');
  });

  test('P14 D4 each pass begins at the cut of the one before: what was kept is summarized or kept, five times over', () => {
    const conversation = fullWindow();
    let covered = 0;
    for (let pass = 0; pass < 5; pass += 1) {
      const plan = planAt(conversation);
      expect(plan.parts[0]?.fromSequence).toBe(covered + 1);
      covered = plan.coveredThroughSequence ?? 0;
      expect(plan.firstKeptSequence).toBeGreaterThan(covered);
      const between = conversation.log.entries.filter(
        (entry) => entry.sequence > covered && entry.sequence < (plan.firstKeptSequence ?? 0),
      );
      expect(between).toEqual([]);
      conversation.commit(plan, '## Goal\nGo on.');
      covered = conversation.summary?.coveredThroughSequence ?? 0;
      for (let turn = 0; turn < 40; turn += 1) {
        conversation.log.user(tokens(1_000, turn));
        conversation.log.answer(tokens(3_000, turn));
      }
      // The marker is no message: the next part begins with the first message behind what is covered.
      covered =
        (conversation.log.entries.find((entry) => entry.sequence > covered && entry.kind !== 'compaction')?.sequence ??
          1) - 1;
    }
  });

  test('P31 right after a compaction there is nothing to do', () => {
    const conversation = fullWindow();
    conversation.commit(planAt(conversation), '## Goal\nDone.');
    const again = conversation.planInput('manual');
    const kept = { ...again, entries: [...again.entries].filter((entry) => entry.kind === 'compaction') };
    expect(planCompaction(kept).kind).toBe('fits');
  });

  test('P35 a log without messages has no cut and no split turn', () => {
    const conversation = large(PI_POLICY);
    for (let index = 0; index < 5; index += 1) conversation.log.note('plan', tokens(20_000, index));
    expect(planCompaction(conversation.planInput('manual')).kind).toBe('fits');
  });

  test('P37 a compaction changes what the view shows and nothing of the log', () => {
    const conversation = fullWindow();
    const before = structuredClone(conversation.log.entries);
    conversation.commit(planAt(conversation), '## Goal\nDone.');
    expect(conversation.log.entries.slice(0, before.length)).toEqual(before);
    conversation.summary = null;
    conversation.operations = [];
    expect(conversation.view().messages).toHaveLength(before.length);
  });
});

describe('summary of a split turn', () => {
  test('P15 history and prefix are written in parallel, the prefix with half of the reserve', () => {
    const { parts } = planAt(longTurn());
    expect(parts.map(({ kind, wave }) => ({ kind, wave }))).toEqual([
      { kind: 'history', wave: 1 },
      { kind: 'turn_prefix', wave: 1 },
    ]);
    expect(parts[1]?.maximumOutput).toBe(8_192);
  });

  test('P20 the summary may take 0.8 of the reserve, but no more than the model can write', () => {
    expect(planAt(fullWindow()).parts[0]?.maximumOutput).toBe(Math.floor(0.8 * 16_384));
    const small = large(PI_POLICY, { window: 200_000, maximumOutput: 4_096 });
    small.log.entries.push(...fullWindow().log.entries);
    expect(planAt(small).parts[0]?.maximumOutput).toBe(4_096);
  });

  test('P16 the texts are joined by a rule and a heading', () => {
    const joined = composeSummary([
      { kind: 'history', text: 'HISTORY' },
      { kind: 'turn_prefix', text: 'PREFIX' },
    ]);
    expect(joined).toBe('HISTORY\n\n---\n\n**Turn Context (split turn):**\n\nPREFIX');
  });

  test('P16 D5 a split turn without new history keeps the previous summary before its text', () => {
    const conversation = fullWindow();
    conversation.commit({ ...planAt(conversation), firstKeptSequence: 93, coveredThroughSequence: 92 }, 'EARLIER');
    conversation.log.entries.pop();
    conversation.log.user('The long request.');
    for (let step = 1; step <= 40; step += 1) conversation.log.step([tokens(4_000, step)]);
    const plan = planAt(conversation);
    expect(plan.parts.map((part) => part.kind)).toEqual(['turn_prefix']);
    const joined = composeSummary([{ kind: 'turn_prefix', text: 'PREFIX' }], 'EARLIER');
    expect(joined).toBe('EARLIER\n\n---\n\n**Turn Context (split turn):**\n\nPREFIX');
    const [part] = plan.parts;
    expect(plan.summaryLimit).toBeGreaterThan(part?.maximumOutput ?? 0);
  });

  test('D11 a log that ends in 20,000 tokens of tool results is still compacted', () => {
    const conversation = large(PI_POLICY);
    conversation.log.user('Read it all.');
    conversation.log.answer(tokens(90_000));
    conversation.log.step([tokens(90_000)]);
    const plan = planAt(conversation);
    expect(plan.firstKeptSequence).toBe(3);
    expect(plan.tokensAfter).toBeLessThan(plan.tokensBefore);
  });
});
