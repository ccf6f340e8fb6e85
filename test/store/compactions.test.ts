import { describe, expect, it, test } from 'vitest';
import { commitCompaction, endCompaction, replanCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { getCompaction, storePlan } from '../../src/store/compactions/compactions.ts';
import { listSummaries } from '../../src/store/compactions/summaries.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { readFitCheck } from '../../src/store/compactions/fit-check.ts';
import { newId } from '../../src/store/database/ids.ts';
import { declineCompaction } from '../../src/store/messages/waiting.ts';
import {
  headOf,
  useTestStore,
  send,
  step,
  answer,
  begin,
  closeToolCall,
  continueConversation,
  finishToolCall,
  startTurn,
  text,
} from './support/store-builders.ts';
import { commitRequest, compact, plan, planWithCut, SUMMARY, turnWithSteps } from './support/compaction-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';
import { textsOf } from '../../src/context/log/content.ts';
import { readNewestNote } from '../../src/store/log/notes.ts';
import { readPins } from '../../src/store/log/pins.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { end } from './support/branch-builders.ts';
import { exported, fileOf, importLines } from './support/conversation-files.ts';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { listParts } from '../../src/store/compactions/compaction-parts.ts';
import { appendNote } from '../../src/store/log/entries.ts';

const { sql } = useTestStore();

describe('replanCompaction', () => {
  it('replaces a form that failed by a weaker one, once', async () => {
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
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
    const turn = await turnWithSteps(sql);
    const { compactionId } = (await plan(sql, turn)).compaction;
    const head = await headOf(sql, turn.conversationId);
    for (let time = 0; time < 2; time += 1) {
      await endCompaction(sql, { turn, compactionId, status: 'failed', failure: 'over_target' });
    }
    expect(await commitCompaction(sql, commitRequest(turn, compactionId))).toEqual({ kind: 'abandoned' });
    expect(await headOf(sql, turn.conversationId)).toBe(head);
    expect((await plan(sql, turn)).joined).toBe(false);
  });
});

describe('a compact command', () => {
  it('is served by the commit, which takes its focus and what came meanwhile', async () => {
    const turn = await turnWithSteps(sql);
    const { conversationId } = turn;
    const old = await send(sql, { conversationId, kind: 'compact', focus: 'old' });
    const named = await send(sql, { conversationId, kind: 'compact', focus: 'names\0' });
    const { compaction } = await plan(sql, turn);
    expect(compaction.focus).toBe('names\0');
    const later = await send(sql, { conversationId, kind: 'compact' });
    expect((await readFitCheck(sql, turn)).compactRequests.toSorted()).toEqual([old, named, later].toSorted());
    await commitCompaction(sql, commitRequest(turn, compaction.compactionId));
    expect(await countWaiting(sql, turn.conversationId)).toMatchObject({ compactRequested: false, waiting: 0 });
  });

  it('is served when there is nothing to compact, or no form helped', async () => {
    const turn = await turnWithSteps(sql);
    const { conversationId } = turn;
    const why = { reason: 'nothing_to_compact', tokens: 900 } as const;
    const requests = [await send(sql, { conversationId, kind: 'compact' })];
    await declineCompaction(sql, turn, { requests, ...why });
    // Repeated after a crash: the request was served, and nothing is told twice.
    await declineCompaction(sql, turn, { requests, ...why });
    const declined = await sql`
      select data from events where conversation_id = ${conversationId} and kind = 'compaction_declined'`;
    expect(declined.map(({ data }) => data)).toEqual([why]);
    expect(await countWaiting(sql, turn.conversationId)).toMatchObject({ compactRequested: false });
    await send(sql, { conversationId, kind: 'compact' });
    const { compactionId } = (await plan(sql, turn)).compaction;
    await endCompaction(sql, { turn, compactionId, status: 'failed', failure: 'x' });
    expect(await countWaiting(sql, turn.conversationId)).toMatchObject({ compactRequested: false });
  });
});

describe('listSummaries', () => {
  it('is newest first and finds text in any case, quotes included', async () => {
    const turn = await turnWithSteps(sql);
    await compact(sql, turn);
    await step(sql, turn, 3);
    const second = await plan(sql, turn, planWithCut(7));
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

/** No part of JSON escapes it twice or unescapes it. */
const PIN = 'Write \\u0000 and "quotes" as they are.';

test('what users and tools pinned stays, whatever the rules of the agent become', async () => {
  const conversationId = newId();
  for (const [rule, message] of [
    ['one', 'Go.\n/pin Use tabs.'],
    ['two', '/pin Never push.'],
    [null, '/unpin 1'],
  ] as const) {
    await send(sql, { conversationId, ...text(message) });
    const begun = await begin(sql, conversationId, { rules: rule === null ? null : text(rule) });
    if (begun.kind === 'begun')
      await endTurn(sql, { turn: begun.turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  }
  expect(await readPins(sql, conversationId)).toEqual(['Never push.']);
  await send(sql, { conversationId });
  const turn = await continueConversation(sql, conversationId);
  await answer(sql, turn, 1, { calls: 1 });
  await finishToolCall(sql, turn, 1, 0, { ...text('pinned'), pin: 'Answer in Dutch.' });
  expect(await readPins(sql, conversationId)).toEqual(['Never push.', 'Answer in Dutch.']);
  expect(
    (await listEvents(sql, { conversationId })).filter(({ kind }) => kind === 'rules_changed').length,
  ).toBeGreaterThan(4);
});

test('a file brings the pins of its conversation, word for word, and none of the rules of the agent there', async () => {
  const turn = await startTurn(sql, ['/pin Never touch the heron.', `/pin ${PIN}`].join('\n'), {
    rules: text('Only there.'),
  });
  const { conversationId } = turn;
  await answer(sql, turn, 1);
  await end(sql, turn);
  const lines = await fileOf(sql, conversationId);
  expect(lines.join()).not.toContain('Only there.');
  expect(await importLines(sql, lines)).toMatchObject({ pins: 2 });
  expect(await readPins(sql, conversationId)).toEqual(['Never touch the heron.', PIN]);
  expect(await exported(sql, conversationId)).toEqual(lines);
  await send(sql, { conversationId });
  await continueConversation(sql, conversationId, { rules: text('Only here.') });
  const rules = await readNewestNote(sql, conversationId, 'rules');
  expect(textsOf(rules ?? [])).toEqual(['Only here.', 'Never touch the heron.', PIN]);
});

describe('storePlan', () => {
  it('stores what a plan is and gives it back whole', async () => {
    const turn = await turnWithSteps(sql);
    const head = await headOf(sql, turn.conversationId);
    const given = planWithCut(4, {
      keptSequences: [1],
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
    const { compaction, joined } = await plan(sql, turn, given);
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
    const turn = await turnWithSteps(sql);
    const plans = await Promise.all([plan(sql, turn), plan(sql, turn)]);
    expect(plans.filter(({ joined }) => joined)).toHaveLength(1);
    expect(new Set(plans.map(({ compaction }) => compaction.compactionId)).size).toBe(1);
    expect((await readFitCheck(sql, turn)).plannedCompactionId).toBe(plans[0]?.compaction.compactionId);
  });

  it('abandons a plan under which something was appended, for one of the head that is', async () => {
    const turn = await turnWithSteps(sql);
    const { compaction: old } = await plan(sql, turn);
    await appendNote(sql, { ...text('Near the limit.'), turn, slot: 'continuation', key: 'limit' });
    const { compaction, joined } = await plan(sql, turn);
    expect(joined).toBe(false);
    expect(await getCompaction(sql, old.compactionId)).toMatchObject({ status: 'abandoned' });
    expect(compaction).toMatchObject({ status: 'planned', headEntryId: await headOf(sql, turn.conversationId) });
  });

  it('refuses another head, a split group, a foreign entry and an old epoch', async () => {
    const turn = await turnWithSteps(sql);
    const other = await turnWithSteps(sql);
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
    await expect(plan(sql, turn, planWithCut(5))).rejects.toMatchObject({ code: 'group_split' });
    const operation = { entryId: foreign, kind: 'clear' as const, measurements: NO_MEASUREMENTS };
    await expect(plan(sql, turn, planWithCut(4, { operations: [operation] }))).rejects.toMatchObject({
      code: 'entry_not_found',
    });
    await expect(plan(sql, { ...turn, epoch: 0 })).rejects.toMatchObject({ code: 'stale_epoch' });
    expect((await readFitCheck(sql, turn)).plannedCompactionId).toBeNull();
  });
});
