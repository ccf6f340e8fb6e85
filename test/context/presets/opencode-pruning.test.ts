import { describe, expect, test } from 'vitest';
import type { PlanResult } from '../../../src/context/plan/plan.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { OPENCODE_POLICY } from '../../../src/context/policy/presets/opencode.ts';
import { image, prose, text, viewText } from '../builders.ts';
import type { Conversation } from '../builders.ts';
import { counted, large, planAt } from './counted.ts';

const tokens = (count: number, seed = 1): string => prose(count * 4, seed);
const MARK = '[Old tool result content cleared]';

/** Turns with one step each, whose result has `size` tokens. */
function turns(count: number, size: number, tool = 'read_file'): Conversation {
  const conversation = large(OPENCODE_POLICY);
  for (let turn = 1; turn <= count; turn += 1) {
    conversation.log.user(`request ${turn}`);
    conversation.log.step([tokens(size, turn)], { tool });
    conversation.log.answer(`answer ${turn}`);
  }
  return conversation;
}

function maintain(conversation: Conversation, policy: CompactionPolicy = OPENCODE_POLICY): PlanResult {
  return planCompaction({ ...conversation.planInput('maintenance'), policy, turnIsOver: true });
}

function cleared(result: PlanResult): number[] {
  if (result.kind !== 'planned') return [];
  return result.plan.operations.map((operation) => Number(operation.entryId.slice(-12)));
}

/** Changes the one reducer of the preset. */
function withPruning(change: Readonly<Record<string, unknown>>): CompactionPolicy {
  return {
    ...OPENCODE_POLICY,
    reduce: OPENCODE_POLICY.reduce.map(({ use, options }) => ({ use, options: { ...options, ...change } })),
  };
}

describe('pruning', () => {
  test('O1 O16 it runs whatever the window holds, and needs no pass to be due', () => {
    const conversation = turns(9, 10_000);
    expect(counted(conversation).isDue).toBe(false);
    expect(cleared(maintain(conversation)).length).toBeGreaterThan(0);
  });

  test('O16 it deletes nothing: the log keeps the original', () => {
    const conversation = turns(9, 10_000);
    const before = structuredClone(conversation.log.entries);
    const result = maintain(conversation);
    if (result.kind === 'planned') conversation.commit(result.plan, '');
    expect(conversation.log.entries.slice(0, before.length)).toEqual(before);
    expect(viewText(conversation.view()).includes(MARK)).toBe(true);
  });

  test('O16 O27 results of protected tools stay and do not count', () => {
    expect(cleared(maintain(turns(9, 10_000, 'skill')))).toEqual([]);
    expect(OPENCODE_POLICY.reduce[0]).toMatchObject({ options: { protectedTools: ['skill'] } });
  });

  test('O16 failed calls stay', () => {
    const conversation = large(OPENCODE_POLICY);
    for (let turn = 1; turn <= 9; turn += 1) {
      conversation.log.user(`request ${turn}`);
      conversation.log.step([tokens(10_000, turn)], { isError: true });
    }
    expect(cleared(maintain(conversation))).toEqual([]);
  });

  test('O17 results of the two newest turns stay, however large', () => {
    const conversation = turns(3, 30_000);
    const last = turns(2, 90_000);
    expect(cleared(maintain(last))).toEqual([]);
    expect(cleared(maintain(conversation, withPruning({ protect: { tokens: 0 } })))).toEqual([3]);
  });

  test('O18 it stops at a result that is cleared already, so a second run finds nothing', () => {
    const conversation = turns(9, 10_000);
    const result = maintain(conversation);
    if (result.kind !== 'planned') throw new Error('nothing was pruned');
    conversation.commit(result.plan, '');
    expect(maintain(conversation, withPruning({ minimum: { tokens: 0 } })).kind).toBe('fits');
    // The first result shown again: it lies behind the cleared ones, so nobody looks at it.
    conversation.operations = conversation.operations.slice(1);
    expect(maintain(conversation, withPruning({ minimum: { tokens: 0 } })).kind).toBe('fits');
  });

  test('O18 it does not look behind the newest summary', () => {
    const conversation = turns(9, 10_000);
    conversation.commit(planAt(conversation), 'WHAT WE DID');
    expect(cleared(maintain(conversation, withPruning({ protect: { tokens: 0 }, minimum: { tokens: 0 } })))).toEqual(
      [],
    );
  });

  test('O19 the newest 40,000 tokens of output stay, by four characters to a token', () => {
    // Of nine results of 10,000 tokens two are of the newest turns, four are protected, three are old.
    expect(cleared(maintain(turns(9, 10_000)))).toEqual([3, 7, 11]);
    expect(cleared(maintain(turns(9, 10_000), withPruning({ protect: { tokens: 20_000 } })))).toHaveLength(5);
  });

  test('O19 O20 nothing is cleared unless more than 20,000 tokens are won', () => {
    expect(cleared(maintain(turns(8, 10_000)))).toEqual([]);
    expect(cleared(maintain(turns(8, 10_001)))).toHaveLength(3);
  });

  test('O21 a pruned result is one line, and its media are gone', () => {
    const conversation = large(OPENCODE_POLICY);
    for (let turn = 1; turn <= 9; turn += 1) {
      conversation.log.user(`request ${turn}`);
      conversation.log.step([[...text(tokens(10_000, turn)), image()]]);
      conversation.log.answer('ok');
    }
    const result = maintain(conversation);
    if (result.kind !== 'planned') throw new Error('nothing was pruned');
    conversation.commit(result.plan, '');
    const results = conversation
      .view()
      .messages.flatMap((message) => (message.role === 'tool_results' ? message.results : []));
    expect(results.slice(0, 3).map((shown) => shown.content)).toEqual(
      Array.from({ length: 3 }, () => [{ type: 'text', text: MARK }]),
    );
    expect(results.at(-1)?.content).toHaveLength(2);
  });

  test('O26 pruning, its numbers and the estimator are settings of their own', () => {
    expect(cleared(maintain(turns(9, 10_000), { ...OPENCODE_POLICY, reduce: [] }))).toEqual([]);
    expect(cleared(maintain(turns(9, 10_000), withPruning({ minimum: { tokens: 40_000 } })))).toEqual([]);
    const { counting } = OPENCODE_POLICY;
    if (counting === 'calibrated') throw new Error('the preset counts characters');
    const twice = { ...OPENCODE_POLICY, counting: { ...counting, charactersPerToken: 2 } };
    expect(cleared(maintain(turns(9, 10_000), twice)).length).toBeGreaterThan(3);
    expect(cleared(maintain(turns(9, 10_000), { ...OPENCODE_POLICY, enabled: false }))).toHaveLength(3);
  });
});
