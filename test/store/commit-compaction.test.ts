import { describe, expect, it, test } from 'vitest';
import { addMeasurements } from '../../src/context/log/measurements.ts';
import { budgetFor, countRequest } from '../../src/context/policy/budget.ts';
import { PI_POLICY } from '../../src/context/policy/presets/pi.ts';
import { commitCompaction, replanCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { getCompaction } from '../../src/store/compactions/compactions.ts';
import { listSummaries } from '../../src/store/compactions/summaries.ts';
import type { CommitCompactionRequest } from '../../src/store/compactions/commit-compaction.ts';
import { listEntries, appendNoteBefore } from '../../src/store/log/entries.ts';
import { readShownNotes } from '../../src/store/log/notes.ts';
import type { Transaction } from '../../src/store/database/database.ts';
import { readFitCheck } from '../../src/store/compactions/fit-check.ts';
import { newId } from '../../src/store/database/ids.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  answer,
  begin,
  headOf,
  useTestStore,
  send,
  text,
  FIRST_ATTEMPT,
  register,
  said,
  startTurn,
} from './support/store-builders.ts';
import { commitRequest, compact, plan, planWithCut, SUMMARY, turnWithSteps } from './support/compaction-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';

const { sql } = useTestStore();

async function committedEvent({ conversationId }: TurnReference): Promise<unknown> {
  const [event] = await sql<{ data: unknown }[]>`
    select data from events where conversation_id = ${conversationId} and kind = 'compaction_committed'`;
  return event?.data;
}

describe('commitCompaction', () => {
  it('changes the view in one transaction and returns what stands when repeated', async () => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    const request = {
      ...commitRequest(turn, compactionId, { continuation: text('go on') }),
      notes: async (open: Transaction) => {
        // What the view shows by then is known.
        expect(await readShownNotes(open, turn.conversationId, 'continuation')).toHaveLength(1);
        return [{ ...text('pumps'), turn, slot: 'memories', key: 'memories' } as const];
      },
    };
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
      ['note', null],
    ]);
    const check = await readFitCheck(sql, turn);
    expect(check).toMatchObject({ compactionId, plannedCompactionId: null });
    expect(check.view.letters).toBe(50 + 'goonpumps'.length);
    const [summary] = await listSummaries(sql, { conversationId: turn.conversationId });
    expect(summary).toMatchObject({
      text: SUMMARY.text,
      files: SUMMARY.files,
      model: SUMMARY.model,
      number: 1,
      tokensBefore: 1_000,
      tokensAfter: 300,
    });
  });

  it('O28 tells the form that was asked for, the one that was used, how long it took and what it saved', async () => {
    const turn = await turnWithSteps(sql);
    let { compactionId } = (await plan(sql, turn)).compaction;
    for (const form of ['shorter_summary', 'extractive_summary'] as const) {
      const next = { turn, nextCompactionId: newId(), plan: planWithCut(4, { form }) };
      ({ compactionId } = await replanCompaction(sql, { ...next, compactionId, failure: 'summary_failed' }));
    }
    await commitCompaction(sql, commitRequest(turn, compactionId));
    expect(await committedEvent(turn)).toMatchObject({
      requestedForm: 'summary',
      form: 'extractive_summary',
      fallback: true,
      durationMilliseconds: expect.any(Number),
      tokensBefore: 1_000,
      tokensAfter: 300,
    });
    const other = await turnWithSteps(sql);
    await compact(sql, other);
    expect(await committedEvent(other)).toMatchObject({ requestedForm: 'summary', form: 'summary', fallback: false });
  });

  it('R3, P34 forgets usage that was reported before', async () => {
    const turn = await turnWithSteps(sql);
    const next = async () => {
      const check = await readFitCheck(sql, turn);
      const budget = budgetFor(PI_POLICY, check.modelLimits);
      return countRequest({ ...check, policy: PI_POLICY, budget, request: addMeasurements(check.view, check.fixed) });
    };
    expect((await readFitCheck(sql, turn)).reported).not.toBeNull();
    expect((await next()).tokens).toBeGreaterThan(120);
    await compact(sql, turn);
    expect((await readFitCheck(sql, turn)).reported).toBeNull();
    expect(await next()).toMatchObject({ tokens: null, isDue: false });
    await answer(sql, turn, 3);
    expect((await readFitCheck(sql, turn)).reported).toMatchObject({ usage: { input: 100 } });
  });

  it('commits once when two callers race', async () => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    const results = await Promise.all([1, 2].map(() => commitCompaction(sql, commitRequest(turn, compactionId))));
    expect(results[0]).toEqual(results[1]);
    expect(await listSummaries(sql, { conversationId: turn.conversationId })).toHaveLength(1);
  });

  it.each<[string, Partial<CommitCompactionRequest>]>([
    ['is not smaller', { tokensAfter: 1_000 }],
    ['R20 has no summary for what it drops', { summary: null }],
    ['R20 has an empty summary', { summary: { ...SUMMARY, text: '  ' } }],
  ])('refuses what %s and changes nothing', async (_, overrides) => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    const head = await headOf(sql, turn.conversationId);
    await expect(commitCompaction(sql, commitRequest(turn, compactionId, overrides))).rejects.toThrow(
      'compactions_check',
    );
    expect(await headOf(sql, turn.conversationId)).toBe(head);
    expect((await getCompaction(sql, compactionId)).status).toBe('planned');
  });

  it('refuses when an entry came meanwhile, and when the turn was taken over', async () => {
    const moved = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, moved)).compaction;
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

const OWN_RUN = FIRST_ATTEMPT.runId;

test('messages are taken before a call as long as it is not registered, and afterwards never', async () => {
  const turn = await startTurn(sql);
  await send(sql, { conversationId: turn.conversationId, ...text('in time') });
  expect(await takeMessages(sql, turn, { callNumber: 1, runId: OWN_RUN })).toEqual({ messages: 1 });
  await register(sql, turn, 1);
  // The attempt that took them is repeated because its result was lost.
  expect(await takeMessages(sql, turn, { callNumber: 1, runId: OWN_RUN })).toEqual({ messages: 0 });
  await send(sql, { conversationId: turn.conversationId, ...text('late') });
  const late = takeMessages(sql, turn, { callNumber: 1, runId: OWN_RUN });
  await expect(late).rejects.toMatchObject({ code: 'call_registered', permanent: true });
  expect(await said(sql, turn.conversationId)).toEqual(['user hello', 'user in time']);
  expect(await countWaiting(sql, turn.conversationId)).toMatchObject({ steering: 1 });
  expect(await takeMessages(sql, turn, { callNumber: 2, runId: OWN_RUN })).toEqual({ messages: 1 });
});

test('a newer call than the one that messages stand before keeps them out too', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1);
  await register(sql, turn, 4);
  await send(sql, { conversationId: turn.conversationId, ...text('late') });
  const late = takeMessages(sql, turn, { callNumber: 2, runId: OWN_RUN });
  await expect(late).rejects.toMatchObject({ code: 'call_registered' });
});

test('a run that repeats what another one did leaves messages to the steps that follow', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1);
  await send(sql, { conversationId: turn.conversationId, ...text('after a reset') });
  expect(await takeMessages(sql, turn, { callNumber: 1, runId: 'after a reset' })).toEqual({ messages: 0 });
  expect(await takeMessages(sql, turn, { callNumber: 2, runId: 'after a reset' })).toEqual({ messages: 1 });
});

test('a note is appended before its call only, once', async () => {
  const turn = await startTurn(sql);
  const note = { ...text('near'), turn, slot: 'continuation', key: 'limit:cost' } as const;
  for (let tries = 0; tries < 2; tries += 1) await appendNoteBefore(sql, { callNumber: 1, runId: OWN_RUN }, note);
  await register(sql, turn, 1);
  await appendNoteBefore(sql, { callNumber: 1, runId: OWN_RUN }, note);
  const late = appendNoteBefore(sql, { callNumber: 1, runId: OWN_RUN }, { ...note, key: 'limit:steps' });
  await expect(late).rejects.toMatchObject({ code: 'call_registered', permanent: true });
  await appendNoteBefore(sql, { callNumber: 1, runId: 'after a reset' }, { ...note, key: 'limit:steps' });
  expect(await said(sql, turn.conversationId)).toEqual(['user hello', 'note near']);
});

test('while a compaction is planned before a call, nothing else is appended before it, and the plan is committed', async () => {
  const turn = await turnWithSteps(sql);
  const { compactionId } = (await plan(sql, turn)).compaction;
  await send(sql, { conversationId: turn.conversationId, ...text('late') });
  // Of a worker that was frozen: the attempt that Temporal counts on is long over.
  const boundary = { callNumber: 3, runId: OWN_RUN };
  expect(await takeMessages(sql, turn, boundary)).toEqual({ messages: 0 });
  const note = { ...text('near'), turn, slot: 'continuation', key: 'limit:cost' } as const;
  expect(await appendNoteBefore(sql, boundary, note)).toBeNull();
  expect(await commitCompaction(sql, commitRequest(turn, compactionId))).toMatchObject({ kind: 'committed' });
  expect(await takeMessages(sql, turn, boundary)).toEqual({ messages: 1 });
});

test('a plan that was left, or under which something was appended, keeps nothing from the calls that follow', async () => {
  const turn = await turnWithSteps(sql);
  await plan(sql, turn);
  await send(sql, { conversationId: turn.conversationId, ...text('next') });
  expect(await takeMessages(sql, turn, { callNumber: 4, runId: OWN_RUN })).toEqual({ messages: 1 });
  await send(sql, { conversationId: turn.conversationId, ...text('more') });
  expect(await takeMessages(sql, turn, { callNumber: 3, runId: OWN_RUN })).toEqual({ messages: 1 });
});
