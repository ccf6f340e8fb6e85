import { describe, expect, it } from 'vitest';
import { recordFailedTry } from '../../src/store/attempts/attempts.ts';
import {
  listParts,
  partCallOf,
  readPart,
  recordPartFailure,
  registerPartAttempt,
  storePartText,
} from '../../src/store/compactions/compaction-parts.ts';
import { readOriginals } from '../../src/store/compactions/originals.ts';
import { endCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { readCosts } from '../../src/store/conversations/costs.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { markInterrupted } from '../../src/store/upkeep/upkeep.ts';
import { verify } from '../../src/verify/verify.ts';
import { closeToolCall, useTestStore, step } from './support/store-builders.ts';
import { compact, NEW_ATTEMPT, plan, planWithCut, SUMMARY, turnWithSteps } from './support/compaction-builders.ts';

const { sql } = useTestStore();

const REFUSED = { kind: 'retryable', evidence: 'empty' } as const;
const UNREACHABLE = { kind: 'unreachable', evidence: 'ECONNREFUSED' } as const;

function unpaid(attempt: number) {
  return { attempt, usage: null, cost: 0, durationMilliseconds: 7 };
}

describe('parts', () => {
  it('read the originals of their range in pages, the previous summary and earlier parts', async () => {
    const turn = await turnWithSteps(sql);
    const first = await compact(sql, turn);
    for (let call = 3; call < 80; call += 1) await step(sql, turn, call);
    const { compaction } = await plan(
      sql,
      turn,
      planWithCut(157, {
        parts: [
          { number: 1, wave: 1, kind: 'history', fromSequence: 4, toSequence: 100, inputTokens: 9, maximumOutput: 9 },
          {
            number: 2,
            wave: 1,
            kind: 'turn_prefix',
            fromSequence: 101,
            toSequence: 156,
            inputTokens: 9,
            maximumOutput: 9,
            piece: { number: 1, of: 2 },
          },
          { number: 3, wave: 2, kind: 'merge', inputTokens: 9, maximumOutput: 9 },
        ],
      }),
    );
    const { compactionId } = compaction;
    const sequences: number[] = [];
    const range = { ...turn, headEntryId: compaction.headEntryId, fromSequence: 4, toSequence: 156 };
    for await (const page of readOriginals(sql, range)) {
      expect(page.length).toBeLessThanOrEqual(100);
      sequences.push(...page.map(({ sequence }) => sequence));
    }
    expect(sequences).toEqual(Array.from({ length: 153 }, (_, index) => index + 4));
    const source = await readPart(sql, { turn, compactionId, part: 1 });
    expect(source.row.part.piece).toBeUndefined();
    expect((await readPart(sql, { turn, compactionId, part: 2 })).row.part.piece).toEqual({ number: 1, of: 2 });
    expect(source.previousSummary).toEqual({
      compactionId: first,
      text: SUMMARY.text,
      details: null,
      files: SUMMARY.files,
    });
    for (const part of [2, 1]) {
      await storePartText(sql, {
        turn,
        compactionId,
        part,
        text: `text ${part}`,
        promptVersion: '1',
        call: null,
      });
    }
    expect(source.parts).toEqual([]);
    const merge = await readPart(sql, { turn, compactionId, part: 3 });
    expect(merge.parts.map(({ text: written }) => written)).toEqual(['text 1', 'text 2']);
  });

  it('are written by the newest attempt, once, and their calls are paid by the turn, that of a try which never reported too', async () => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    const part = { turn, compactionId, part: 1 };
    expect(await registerPartAttempt(sql, part, NEW_ATTEMPT)).toEqual({
      attempt: 1,
      failures: 0,
      unreported: 0,
    });
    expect(await registerPartAttempt(sql, part, NEW_ATTEMPT)).toMatchObject({
      attempt: 2,
      failures: 0,
      unreported: 1,
    });
    const usage = { input: 1_000, cacheRead: 0, cacheWrite: 0, output: 100 };
    const call = (attempt: number) => ({ attempt, usage, cost: 0.25, durationMilliseconds: 7 });
    const written = { ...part, text: 'a\0', promptVersion: '1' };
    const before = (await getTurn(sql, turn.turnId)).usage;
    await expect(storePartText(sql, { ...written, call: call(1) })).rejects.toMatchObject({
      code: 'superseded_attempt',
    });
    await storePartText(sql, { ...written, call: call(2) });
    await storePartText(sql, { ...written, call: call(2), text: 'again' });
    const after = (await getTurn(sql, turn.turnId)).usage;
    expect([after.inputTokens - before.inputTokens, (after.cost ?? 0) - (before.cost ?? 0)]).toEqual([2_000, 0.5]);
    const scope = { conversationId: turn.conversationId };
    expect((await verify(sql, scope)).repeatedCalls).toMatchObject([{ summary: { compactionId, part: 1 }, tries: 2 }]);
    expect(await readCosts(sql, { by: 'conversation', since: null, ...scope })).toMatchObject([
      { repeatedCalls: 1, repeatedCost: 0.25 },
    ]);
    expect(await registerPartAttempt(sql, part, NEW_ATTEMPT)).toBe('written');
    expect((await listParts(sql, compactionId))[0]?.text).toBe('a\0');
  });

  it('count failures of the model once per attempt', async () => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    const part = { turn, compactionId, part: 1 };
    const failed = (attempt: number) => ({ ...part, call: { ...unpaid(attempt), failure: REFUSED }, final: false });
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    for (let time = 0; time < 2; time += 1) {
      expect(await recordPartFailure(sql, failed(1))).toEqual({ failures: 1 });
    }
    expect(await registerPartAttempt(sql, part, NEW_ATTEMPT)).toMatchObject({
      attempt: 2,
      failures: 1,
      unreported: 0,
    });
    // Its report came twice, the second time late.
    expect(await recordPartFailure(sql, failed(1))).toEqual({ failures: 1 });
    const text = { ...part, text: 'a', promptVersion: '1', call: unpaid(1) };
    await expect(storePartText(sql, text)).rejects.toMatchObject({ code: 'superseded_attempt' });
    expect(await recordPartFailure(sql, { ...failed(2), final: true })).toEqual({ failures: 2 });
    expect((await listParts(sql, compactionId))[0]).toMatchObject({ state: 'failed', failures: 2 });
  });

  it('count a try as paid only if the model may have been asked', async () => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    const part = { turn, compactionId, part: 1 };
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    await recordFailedTry(sql, partCallOf(part), { attempt: 1, failure: UNREACHABLE });
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    await recordPartFailure(sql, { ...part, call: { ...unpaid(2), failure: REFUSED }, final: false });
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    await storePartText(sql, { ...part, text: 'a', promptVersion: '1', call: { ...unpaid(3), cost: 0.25 } });
    const { repeatedCalls, invariants } = await verify(sql, { conversationId: turn.conversationId });
    expect(repeatedCalls).toEqual([]);
    expect(invariants.find(({ name }) => name === 'usage_adds_up')?.breaches).toEqual([]);
  });

  it('take back no more than one try with a withdrawal that is said twice: another may be paid', async () => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    const part = { turn, compactionId, part: 1 };
    // Lost with its worker; then refused unpaid, and the reply of the commit that says so is lost.
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    await recordFailedTry(sql, partCallOf(part), { attempt: 2, failure: UNREACHABLE });
    await recordFailedTry(sql, partCallOf(part), { attempt: 2, failure: UNREACHABLE });
    expect(await registerPartAttempt(sql, part, NEW_ATTEMPT)).toMatchObject({ attempt: 3, unreported: 1 });
  });

  it('count a try that the end of the turn cut off as paid, for the input that was estimated', async () => {
    const turn = await turnWithSteps(sql);
    const before = (await getTurn(sql, turn.turnId)).usage;
    const { compactionId } = (await plan(sql, turn)).compaction;
    const part = { turn, compactionId, part: 1 };
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    await recordFailedTry(sql, partCallOf(part), { attempt: 1, failure: UNREACHABLE });
    await registerPartAttempt(sql, part, NEW_ATTEMPT);
    await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
    const { usage } = await getTurn(sql, turn.turnId);
    // The plan's estimate of what the part reads.
    expect(usage.inputTokens - before.inputTokens).toBe(500);
    expect(usage.modelCalls - before.modelCalls).toBe(1);
    // A dollar for a million tokens.
    expect((usage.cost ?? 0) - (before.cost ?? 0)).toBeCloseTo(0.0005);
    const { repeatedCalls, invariants } = await verify(sql, { conversationId: turn.conversationId });
    expect(invariants.find(({ name }) => name === 'usage_adds_up')?.breaches).toEqual([]);
    // It was bought once.
    expect(repeatedCalls).toEqual([]);
  });

  it('of a turn whose worker is lost are ended by the turn that takes over, written ones left alone', async () => {
    const turn = await turnWithSteps(sql);
    const [part] = planWithCut(4).parts;
    if (part === undefined) throw new Error('the plan has no part');
    const parts = [
      { ...part, toSequence: 1 },
      { ...part, number: 2, fromSequence: 2 },
    ];
    const { compactionId } = (await plan(sql, turn, planWithCut(4, { parts }))).compaction;
    const first = { turn, compactionId, part: 1 };
    // A try that is lost, and a text that no model wrote.
    await registerPartAttempt(sql, first, NEW_ATTEMPT);
    await storePartText(sql, { ...first, text: 'a', promptVersion: 'extractive', call: null });
    await registerPartAttempt(sql, { turn, compactionId, part: 2 }, NEW_ATTEMPT);
    expect(await markInterrupted(sql, turn, closeToolCall)).toBe(true);
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ outcome: 'interrupted' });
    expect((await listParts(sql, compactionId)).map(({ state }) => state)).toEqual(['written', 'planned']);
  });

  it('belong to a compaction that is under way', async () => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    await endCompaction(sql, { turn, compactionId, status: 'abandoned', failure: 'x' });
    await expect(registerPartAttempt(sql, { turn, compactionId, part: 1 }, NEW_ATTEMPT)).rejects.toMatchObject({
      code: 'wrong_state',
    });
    await expect(registerPartAttempt(sql, { turn, compactionId: newId(), part: 1 }, NEW_ATTEMPT)).rejects.toMatchObject(
      {
        code: 'compaction_not_found',
      },
    );
  });
});
