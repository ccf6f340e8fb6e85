import { describe, expect, it } from 'vitest';
import { countNextRequest } from '../../src/activities/compaction/plan-compaction.ts';
import { PI_POLICY } from '../../src/context/policy/presets/pi.ts';
import {
  commitCompaction,
  getCompaction,
  listSummaries,
  replanCompaction,
} from '../../src/store/compactions/compactions.ts';
import type { CommitCompactionRequest } from '../../src/store/compactions/compactions.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { readShownNotes } from '../../src/store/log/notes.ts';
import type { Transaction } from '../../src/store/database/database.ts';
import { readFitCheck } from '../../src/store/compactions/fit-check.ts';
import { newId } from '../../src/store/database/ids.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { answer, begin, headOf, useTestStore, send, text } from './support/store-builders.ts';
import { commitRequest, compact, plan, planWithCut, SUMMARY, turnWithSteps } from './support/compaction-builders.ts';

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
      sections: SUMMARY.sections,
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
    const next = async () => countNextRequest({ ...(await readFitCheck(sql, turn)), policy: PI_POLICY });
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
