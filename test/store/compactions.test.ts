import { describe, expect, it } from 'vitest';
import {
  commitCompaction,
  endCompaction,
  getCompaction,
  listSummaries,
  replanCompaction,
} from '../../src/store/compactions/compactions.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { readFitCheck } from '../../src/store/compactions/fit-check.ts';
import { newId } from '../../src/store/database/ids.ts';
import { declineCompaction } from '../../src/store/messages/waiting.ts';
import { headOf, useTestStore, send, step } from './support/store-builders.ts';
import { commitRequest, compact, plan, planWithCut, SUMMARY, turnWithSteps } from './support/compaction-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';

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
