import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_MEASUREMENTS } from '../../src/context/measurement-arithmetic.ts';
import type { CompactionPlan } from '../../src/context/plan.ts';
import {
  listParts,
  readOriginals,
  readPart,
  recordPartFailure,
  registerPartAttempt,
  storePartText,
} from '../../src/store/compaction-parts.ts';
import {
  commitCompaction,
  endCompaction,
  getCompaction,
  listSummaries,
  replanCompaction,
  storePlan,
} from '../../src/store/compactions.ts';
import type { CommitCompactionRequest, NewSummary } from '../../src/store/compactions.ts';
import type { Database } from '../../src/store/database.ts';
import { listEntries } from '../../src/store/entries.ts';
import { listEvents } from '../../src/store/events.ts';
import { readFitCheck } from '../../src/store/fit-check.ts';
import { newId } from '../../src/store/ids.ts';
import { declineCompaction, lookAtInbox, takeMessages } from '../../src/store/inbox.ts';
import { getTurn } from '../../src/store/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  answer,
  begin,
  headOf,
  openTestStore,
  planWithCut,
  send,
  startTurn,
  step,
  text,
} from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;

beforeAll(async () => {
  store = await openTestStore();
  ({ sql } = store);
});
afterAll(() => store.close());

/** Entries: user 1, answer 2, result 3, answer 4, result 5. */
async function turnWithSteps(): Promise<TurnReference> {
  const turn = await startTurn(sql);
  await step(sql, turn, 1);
  await step(sql, turn, 2);
  return turn;
}

async function plan(turn: TurnReference, given: CompactionPlan = planWithCut(4)) {
  return storePlan(sql, {
    turn,
    callNumber: 3,
    compactionId: newId(),
    plan: given,
    reason: 'threshold',
    preset: 'default',
    headEntryId: await headOf(sql, turn.conversationId),
  });
}

const SUMMARY: NewSummary = {
  text: 'Goal: read.\0\uD800',
  measurements: { ...NO_MEASUREMENTS, letters: 9 },
  sections: [{ title: 'Goal', text: 'read' }],
  files: { read: ['a.txt'], modified: [] },
  model: 'sim/sim-32k',
  promptVersion: 'history-1',
};

function commitRequest(
  turn: TurnReference,
  compactionId: string,
  overrides: Partial<CommitCompactionRequest> = {},
): CommitCompactionRequest {
  return {
    turn,
    compactionId,
    summary: SUMMARY,
    viewAfter: { ...NO_MEASUREMENTS, letters: 50 },
    tokensAfter: 300,
    continuation: null,
    ...overrides,
  };
}

describe('storePlan', () => {
  it('stores what a plan is and gives it back whole', async () => {
    const turn = await turnWithSteps();
    const [user] = await listEntries(sql, { conversationId: turn.conversationId, limit: 1 });
    const head = await headOf(sql, turn.conversationId);
    const given = planWithCut(4, {
      keptUserEntryIds: [user?.id ?? ''],
      operations: [
        {
          entryId: head,
          kind: 'clip',
          headCharacters: 10,
          tailCharacters: 0,
          measurements: { ...NO_MEASUREMENTS, letters: 3 },
        },
      ],
    });
    const { compaction, joined } = await plan(turn, given);
    expect(joined).toBe(false);
    expect(compaction).toMatchObject({
      status: 'planned',
      formNumber: 1,
      plan: given,
      headEntryId: head,
      previousCompactionId: null,
    });
    expect((await listParts(sql, compaction.compactionId)).map(({ part }) => part)).toEqual(given.parts);
  });

  it('R4 joins the plan that is under way, also from two callers at once', async () => {
    const turn = await turnWithSteps();
    const plans = await Promise.all([plan(turn), plan(turn)]);
    expect(plans.map(({ joined }) => joined).toSorted()).toEqual([false, true]);
    expect(new Set(plans.map(({ compaction }) => compaction.compactionId)).size).toBe(1);
    expect((await readFitCheck(sql, turn)).plannedCompactionId).toBe(plans[0]?.compaction.compactionId);
  });

  it('refuses another head, a split group, a foreign entry and an old epoch', async () => {
    const turn = await turnWithSteps();
    const other = await turnWithSteps();
    const foreign = await headOf(sql, other.conversationId);
    const request = {
      turn,
      callNumber: 3,
      compactionId: newId(),
      plan: planWithCut(4),
      reason: 'manual' as const,
      preset: 'default',
      headEntryId: foreign,
    };
    await expect(storePlan(sql, request)).rejects.toMatchObject({ code: 'head_moved' });
    await expect(plan(turn, planWithCut(5))).rejects.toMatchObject({ code: 'group_split' });
    const operation = { entryId: foreign, kind: 'clear' as const, measurements: NO_MEASUREMENTS };
    await expect(plan(turn, planWithCut(4, { operations: [operation] }))).rejects.toMatchObject({
      code: 'entry_not_found',
    });
    await expect(plan({ ...turn, epoch: 0 })).rejects.toMatchObject({ code: 'stale_epoch' });
    expect((await readFitCheck(sql, turn)).plannedCompactionId).toBeNull();
  });
});

describe('parts', () => {
  it('read the originals of their range in pages, the previous summary and earlier parts', async () => {
    const turn = await turnWithSteps();
    const first = await plan(turn);
    await commitCompaction(sql, commitRequest(turn, first.compaction.compactionId));
    for (let call = 3; call < 80; call += 1) await step(sql, turn, call);
    const { compaction } = await plan(
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
    expect(source.previousSummary).toEqual({
      compactionId: first.compaction.compactionId,
      text: SUMMARY.text,
      files: SUMMARY.files,
    });
    for (const part of [2, 1]) {
      const registered = await registerPartAttempt(sql, { turn, compactionId, part });
      if (registered.state !== 'registered') throw new Error('written before');
      await storePartText(sql, {
        turn,
        compactionId,
        part,
        attempt: registered.attempt,
        text: `text ${part}`,
        promptVersion: '1',
        call: null,
      });
    }
    expect(source.parts).toEqual([]);
    const merge = await readPart(sql, { turn, compactionId, part: 3 });
    expect(merge.parts.map(({ text: written }) => written)).toEqual(['text 1', 'text 2']);
  });

  it('are written by the newest attempt, once, and their calls are paid by the turn', async () => {
    const turn = await turnWithSteps();
    const { compactionId } = (await plan(turn)).compaction;
    const part = { turn, compactionId, part: 1 };
    expect(await registerPartAttempt(sql, part)).toEqual({ state: 'registered', attempt: 1, failures: 0 });
    expect(await registerPartAttempt(sql, part)).toEqual({ state: 'registered', attempt: 2, failures: 0 });
    const usage = { input: 1_000, cacheRead: 0, cacheWrite: 0, output: 100 };
    const call = { model: 'sim/sim-32k', usage, cost: 0.25, durationMilliseconds: 7 };
    const written = { ...part, text: 'a\0', promptVersion: '1', call };
    await expect(storePartText(sql, { ...written, attempt: 1 })).rejects.toMatchObject({ code: 'superseded_attempt' });
    const before = (await getTurn(sql, turn.turnId)).usage;
    await storePartText(sql, { ...written, attempt: 2 });
    await storePartText(sql, { ...written, attempt: 2, text: 'again' });
    const after = (await getTurn(sql, turn.turnId)).usage;
    expect([after.inputTokens - before.inputTokens, (after.cost ?? 0) - (before.cost ?? 0)]).toEqual([1_000, 0.25]);
    expect(await registerPartAttempt(sql, part)).toMatchObject({ state: 'written', row: { text: 'a\0' } });
  });

  it('count failures of the model once per attempt', async () => {
    const turn = await turnWithSteps();
    const { compactionId } = (await plan(turn)).compaction;
    const part = { turn, compactionId, part: 1 };
    const failure = { ...part, failure: 'empty', call: null, final: false };
    await registerPartAttempt(sql, part);
    for (let time = 0; time < 2; time += 1) {
      expect(await recordPartFailure(sql, { ...failure, attempt: 1 })).toEqual({ failures: 1 });
    }
    expect(await registerPartAttempt(sql, part)).toEqual({ state: 'registered', attempt: 2, failures: 1 });
    await expect(recordPartFailure(sql, { ...failure, attempt: 1 })).rejects.toMatchObject({
      code: 'superseded_attempt',
    });
    expect(await recordPartFailure(sql, { ...failure, attempt: 2, final: true })).toEqual({ failures: 2 });
    expect((await listParts(sql, compactionId))[0]).toMatchObject({ state: 'failed', failures: 2 });
  });

  it('belong to a compaction that is under way', async () => {
    const turn = await turnWithSteps();
    const { compactionId } = (await plan(turn)).compaction;
    await endCompaction(sql, { turn, compactionId, status: 'abandoned', failure: 'x' });
    await expect(registerPartAttempt(sql, { turn, compactionId, part: 1 })).rejects.toMatchObject({
      code: 'wrong_state',
    });
    await expect(registerPartAttempt(sql, { turn, compactionId: newId(), part: 1 })).rejects.toMatchObject({
      code: 'compaction_not_found',
    });
  });
});

describe('commitCompaction', () => {
  it('changes the view in one transaction and returns what stands when repeated', async () => {
    const turn = await turnWithSteps();
    const { compactionId } = (await plan(turn)).compaction;
    const request = commitRequest(turn, compactionId, { continuation: text('go on') });
    const committed = await commitCompaction(sql, request);
    expect(committed).toMatchObject({
      kind: 'committed',
      headEntryId: await headOf(sql, turn.conversationId),
      tokensAfter: 300,
    });
    expect(await commitCompaction(sql, request)).toEqual(committed);
    const entries = await listEntries(sql, { conversationId: turn.conversationId, after: 5 });
    expect(entries.map(({ kind, compactionId: id }) => [kind, id])).toEqual([
      ['compaction', compactionId],
      ['note', null],
    ]);
    const check = await readFitCheck(sql, turn);
    expect(check).toMatchObject({ compactionId, plannedCompactionId: null });
    expect(check.view.letters).toBe(50 + 'goon'.length);
    const [summary] = await listSummaries(sql, { conversationId: turn.conversationId });
    expect(summary).toMatchObject({
      text: SUMMARY.text,
      sections: SUMMARY.sections,
      files: SUMMARY.files,
      model: SUMMARY.model,
      number: 1,
      tokensBefore: 1_000,
      tokensAfter: 300,
    });
  });

  it('R3 forgets usage that was reported before', async () => {
    const turn = await turnWithSteps();
    expect((await readFitCheck(sql, turn)).reported).not.toBeNull();
    await commitCompaction(sql, commitRequest(turn, (await plan(turn)).compaction.compactionId));
    expect((await readFitCheck(sql, turn)).reported).toBeNull();
    await answer(sql, turn, 3);
    expect((await readFitCheck(sql, turn)).reported).toMatchObject({ usage: { input: 100 } });
  });

  it('commits once when two callers race', async () => {
    const turn = await turnWithSteps();
    const { compactionId } = (await plan(turn)).compaction;
    const results = await Promise.all([1, 2].map(() => commitCompaction(sql, commitRequest(turn, compactionId))));
    expect(results[0]).toEqual(results[1]);
    expect(await listSummaries(sql, { conversationId: turn.conversationId })).toHaveLength(1);
  });

  it.each<[string, Partial<CommitCompactionRequest>]>([
    ['is not smaller', { tokensAfter: 1_000 }],
    ['R20 has no summary for what it drops', { summary: null }],
    ['R20 has an empty summary', { summary: { ...SUMMARY, text: ' \n' } }],
  ])('refuses what %s and changes nothing', async (_, overrides) => {
    const turn = await turnWithSteps();
    const { compactionId } = (await plan(turn)).compaction;
    const head = await headOf(sql, turn.conversationId);
    await expect(commitCompaction(sql, commitRequest(turn, compactionId, overrides))).rejects.toMatchObject({
      code: 'compaction_refused',
    });
    expect(await headOf(sql, turn.conversationId)).toBe(head);
    expect((await getCompaction(sql, compactionId)).status).toBe('planned');
  });

  it('refuses when an entry came meanwhile, and when the turn was taken over', async () => {
    const moved = await turnWithSteps();
    const { compactionId } = (await plan(moved)).compaction;
    await send(sql, { conversationId: moved.conversationId });
    await takeMessages(sql, moved);
    await expect(commitCompaction(sql, commitRequest(moved, compactionId))).rejects.toMatchObject({
      code: 'head_moved',
    });
    await send(sql, { conversationId: moved.conversationId });
    await begin(sql, moved.conversationId);
    await expect(commitCompaction(sql, commitRequest(moved, compactionId))).rejects.toMatchObject({
      code: 'stale_epoch',
    });
    expect((await getCompaction(sql, compactionId)).status).toBe('abandoned');
  });
});

describe('replanCompaction', () => {
  it('replaces a form that failed by a weaker one, once', async () => {
    const turn = await turnWithSteps();
    const { compactionId } = (await plan(turn)).compaction;
    const replan = () =>
      replanCompaction(sql, {
        turn,
        compactionId,
        failure: 'not_smaller',
        nextCompactionId: newId(),
        plan: planWithCut(4, { form: 'shorter_summary' }),
      });
    const [next, same] = await Promise.all([replan(), replan()]);
    expect(next.compactionId).toBe(same.compactionId);
    expect(next).toMatchObject({ form: 'shorter_summary', formNumber: 2, status: 'planned', callNumber: 3 });
    expect(await getCompaction(sql, compactionId)).toMatchObject({
      status: 'failed',
      failure: 'not_smaller',
      nextCompactionId: next.compactionId,
    });
    expect(await commitCompaction(sql, commitRequest(turn, compactionId))).toMatchObject({ kind: 'replanned', next });
    const committed = await commitCompaction(sql, commitRequest(turn, next.compactionId));
    expect(committed.kind).toBe('committed');
    await expect(
      replanCompaction(sql, {
        turn,
        compactionId: next.compactionId,
        failure: 'x',
        nextCompactionId: newId(),
        plan: planWithCut(4),
      }),
    ).rejects.toMatchObject({ code: 'wrong_state' });
    const events = await listEvents(sql, { conversationId: turn.conversationId });
    expect(events.find(({ kind }) => kind === 'compaction_form_failed')?.data).toMatchObject({
      failure: 'not_smaller',
      nextForm: 'shorter_summary',
    });
  });

  it('leaves the log as it was when no form is left', async () => {
    const turn = await turnWithSteps();
    const { compactionId } = (await plan(turn)).compaction;
    const head = await headOf(sql, turn.conversationId);
    for (let time = 0; time < 2; time += 1) {
      await endCompaction(sql, { turn, compactionId, status: 'failed', failure: 'over_target' });
    }
    expect(await commitCompaction(sql, commitRequest(turn, compactionId))).toEqual({ kind: 'abandoned' });
    expect(await headOf(sql, turn.conversationId)).toBe(head);
    expect((await plan(turn)).joined).toBe(false);
  });
});

describe('a compact command', () => {
  it('is served by the commit, which takes its focus and what came meanwhile', async () => {
    const turn = await turnWithSteps();
    const { conversationId } = turn;
    await send(sql, { conversationId, kind: 'compact', focus: 'old' });
    await send(sql, { conversationId, kind: 'compact', focus: 'names\0' });
    const { compaction } = await plan(turn);
    expect(compaction.focus).toBe('names\0');
    await send(sql, { conversationId, kind: 'compact' });
    expect(await readFitCheck(sql, turn)).toMatchObject({ compactRequested: true });
    await commitCompaction(sql, commitRequest(turn, compaction.compactionId));
    expect(await lookAtInbox(sql, turn)).toMatchObject({ compactRequested: false, waiting: 0 });
  });

  it('is served when there is nothing to compact, or no form helped', async () => {
    const turn = await turnWithSteps();
    const { conversationId } = turn;
    await send(sql, { conversationId, kind: 'compact' });
    await declineCompaction(sql, turn);
    expect(await lookAtInbox(sql, turn)).toMatchObject({ compactRequested: false });
    await send(sql, { conversationId, kind: 'compact' });
    const { compactionId } = (await plan(turn)).compaction;
    await endCompaction(sql, { turn, compactionId, status: 'failed', failure: 'x' });
    expect(await lookAtInbox(sql, turn)).toMatchObject({ compactRequested: false });
  });
});

describe('listSummaries', () => {
  it('is newest first and finds text in any case, quotes included', async () => {
    const turn = await turnWithSteps();
    await commitCompaction(sql, commitRequest(turn, (await plan(turn)).compaction.compactionId));
    await step(sql, turn, 3);
    const second = await plan(turn, planWithCut(7));
    const named = { ...SUMMARY, text: 'Said "Zürich"\nthen left' };
    await commitCompaction(sql, commitRequest(turn, second.compaction.compactionId, { summary: named }));
    const { conversationId } = turn;
    expect((await listSummaries(sql, { conversationId })).map(({ number }) => number)).toEqual([2, 1]);
    expect((await listSummaries(sql, { conversationId, query: '"zürich"\n' })).map(({ number }) => number)).toEqual([
      2,
    ]);
    expect(await listSummaries(sql, { conversationId, beforeNumber: 2, limit: 1 })).toMatchObject([{ number: 1 }]);
    expect((await getCompaction(sql, second.compaction.compactionId)).previousCompactionId).not.toBeNull();
    expect(await listSummaries(sql, { conversationId: 'nonsense' })).toEqual([]);
  });
});
