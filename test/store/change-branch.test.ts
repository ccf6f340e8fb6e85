import { describe, expect, it } from 'vitest';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { measureView } from '../../src/context/view/view-arrangement.ts';
import { branchPlan } from '../../src/context/summary/branch-summary.ts';
import { registerPartAttempt, storePartText } from '../../src/store/compactions/compaction-parts.ts';
import { getCompaction, storeBranchPlan } from '../../src/store/compactions/compactions.ts';
import { changeBranch } from '../../src/store/conversations/change-branch.ts';
import { readBranchCommand } from '../../src/store/conversations/branch-commands.ts';
import type { NewBranchSummary } from '../../src/store/conversations/change-branch.ts';
import { readCosts } from '../../src/store/conversations/costs.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { readFitCheck, readPlanSource } from '../../src/store/compactions/fit-check.ts';
import { newId } from '../../src/store/database/ids.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { verify } from '../../src/verify/verify.ts';
import { command, end, go } from './support/branch-builders.ts';
import { compact, NEW_ATTEMPT, turnWithSteps } from './support/compaction-builders.ts';
import {
  answer,
  continueConversation,
  finishToolCall,
  useTestStore,
  send,
  startTurn,
  step,
} from './support/store-builders.ts';

const { sql, owner } = useTestStore();

const path = async (conversationId: string): Promise<number[]> =>
  (await listEntries(sql, { conversationId })).map(({ sequence }) => sequence);

describe('a change of branch', () => {
  it('finds the common ancestor; a fork inside a group begins after its last result', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await answer(sql, turn, 1, { calls: 2 });
    await finishToolCall(sql, turn, 1, 1);
    await finishToolCall(sql, turn, 1, 0);
    await answer(sql, turn, 2);
    await end(sql, turn);
    const [, answered, firstResult] = await listEntries(sql, { conversationId });
    // 1 user, 2 answer, 3 and 4 results, 5 answer. Forked at the answer and at its first result: both after entry 4.
    expect(await go(sql, conversationId, { entryId: answered?.id ?? '', summarizes: true })).toEqual({
      ancestorSequence: 4,
      left: [5],
    });
    expect(await path(conversationId)).toEqual([1, 2, 3, 4]);
    await send(sql, { conversationId });
    const second = await continueConversation(sql, conversationId);
    await answer(sql, second, 1);
    await end(sql, second);
    expect(await path(conversationId)).toEqual([1, 2, 3, 4, 6, 7]);
    // Back to the first: 6 and 7 are left. A fork of the fork's own entry, and one before everything.
    expect(await go(sql, conversationId, { branch: 0, summarizes: true })).toEqual({
      ancestorSequence: 4,
      left: [6, 7],
    });
    expect(await path(conversationId)).toEqual([1, 2, 3, 4, 5]);
    expect(await go(sql, conversationId, { entryId: firstResult?.id ?? '', summarizes: true })).toMatchObject({
      left: [5],
    });
    expect(await go(sql, conversationId, { branch: 1, summarizes: true })).toEqual({ ancestorSequence: 4, left: [] });
    expect(await go(sql, conversationId, { entryId: null, summarizes: true })).toEqual({
      ancestorSequence: 0,
      left: [1, 2, 3, 4, 6, 7],
    });
    expect(await path(conversationId)).toEqual([]);
    await send(sql, { conversationId });
    await continueConversation(sql, conversationId);
    expect(await path(conversationId)).toEqual([8]);
  });

  it('leaves the next check with the measure of what is in force there', async () => {
    const turn = await turnWithSteps(sql);
    const { conversationId } = turn;
    await compact(sql, turn);
    await answer(sql, turn, 3);
    await end(sql, turn);
    const entries = await listEntries(sql, { conversationId });
    // 1 user, 2 to 5 two steps, 6 marker, 7 answer; the summary covers 1 to 3. With it, and before its end.
    for (const [sequence, holds] of [
      [5, true],
      [1, false],
    ] as const) {
      await go(sql, conversationId, { entryId: entries[sequence - 1]?.id ?? '', summarizes: false });
      await send(sql, { conversationId });
      const next = await continueConversation(sql, conversationId);
      await step(sql, next, 1);
      const source = await readPlanSource(sql, next);
      expect(source.summary !== null).toBe(holds);
      const { view } = await readFitCheck(sql, next);
      expect(view).toEqual(measureView({ ...source, fixed: NO_MEASUREMENTS }));
      await end(sql, next);
    }
  });

  it('counts the calls whose answer was lost with a worker, stores the newest try only, and is carried out once', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await answer(sql, turn, 1);
    await end(sql, turn);
    await command(sql, conversationId, { entryId: null, summarizes: true });
    const next = await continueConversation(sql, conversationId);
    const read = await readBranchCommand(sql, next);
    if (read.kind !== 'command') throw new Error(`the command is ${read.kind}`);
    const { from, ancestorSequence } = read.command;
    const range = { fromSequence: ancestorSequence + 1, toSequence: from.headSequence };
    const of = {
      turn: next,
      preset: 'default',
      headEntryId: from.headEntryId ?? '',
      plan: branchPlan({ ...range, inputTokens: 500, maximumOutput: 2_048 }),
    };
    const { compactionId } = await storeBranchPlan(sql, of);
    expect(await storeBranchPlan(sql, of)).toMatchObject({ compactionId, focus: null, previousCompactionId: null });
    const part = { turn: next, compactionId, part: 1 };
    // Lost with its worker; answered.
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    const usage = { input: 1_000, cacheRead: 0, cacheWrite: 0, output: 100 };
    const written = (attempt: number) => ({
      text: 'what was left',
      promptVersion: '1',
      call: { attempt, usage, cost: 0.25, durationMilliseconds: 7 },
    });
    await expect(storePartText(sql, { ...part, ...written(1) })).rejects.toMatchObject({ code: 'superseded_attempt' });
    await storePartText(sql, { ...part, ...written(2) });
    const summary: NewBranchSummary = {
      content: [{ type: 'text', text: 'what was left' }],
      measurements: NO_MEASUREMENTS,
      files: { read: [], modified: [] },
      model: 'sim/sim-32k',
      promptVersion: '1',
    };
    for (let time = 0; time < 2; time += 1) await changeBranch(sql, next, read.command, summary);
    expect(await getCompaction(sql, compactionId)).toMatchObject({ status: 'written', failure: null });
    const events = await sql`select from events where conversation_id = ${conversationId} and kind = 'branch_changed'`;
    expect(events).toHaveLength(1);
    const { usage: counted } = await getTurn(sql, next.turnId);
    expect(counted).toMatchObject({ modelCalls: 2, inputTokens: 2_000, outputTokens: 200, cost: 0.5 });
    await end(sql, next);
    const { invariants, repeatedCalls } = await verify(sql, { conversationId });
    expect(repeatedCalls).toMatchObject([{ turnId: next.turnId, summary: { compactionId, part: 1 }, tries: 2 }]);
    expect(invariants.find(({ name }) => name === 'usage_adds_up')?.breaches).toEqual([]);
    const turns = await readCosts(sql, { by: 'turn', since: null, conversationId });
    expect(turns.at(-1)).toMatchObject({ calls: 2, cost: 0.5, repeatedCalls: 1, repeatedCost: 0.25 });
  });

  it('is refused while a message waits, and when a turn began after it was sent', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    const target = { entryId: null, summarizes: false };
    await expect(command(sql, conversationId, target)).rejects.toMatchObject({ code: 'conversation_busy' });
    await end(sql, turn);
    await expect(command(sql, conversationId, { branch: 9, summarizes: false })).rejects.toMatchObject({
      code: 'branch_not_found',
    });
    await expect(command(sql, conversationId, { entryId: newId(), summarizes: false })).rejects.toMatchObject({
      code: 'entry_not_found',
    });
    await command(sql, conversationId, target);
    await owner`
      update messages set sent_epoch = sent_epoch - 2 where conversation_id = ${conversationId} and kind = 'fork'`;
    const next = await continueConversation(sql, conversationId);
    expect(await readBranchCommand(sql, next)).toMatchObject({ kind: 'refused', refusal: 'conversation_busy' });
  });
});
