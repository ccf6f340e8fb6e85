import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addMeasurements, NO_MEASUREMENTS, subtractMeasurements } from '../../src/context/log/measurements.ts';
import { fillConversation } from '../../dev/bench/fill-conversation.ts';
import { measureView } from '../../src/context/view/view-arrangement.ts';
import { projectView } from '../../src/context/view/project-view.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { appendNote } from '../../src/store/log/entries.ts';
import { readFitCheck, readPlanSource } from '../../src/store/compactions/fit-check.ts';
import { readLineage } from '../../src/store/compactions/summaries.ts';
import { newId } from '../../src/store/database/ids.ts';
import {
  readCurrentProjectionSource,
  readProjectionSource,
  readProjectionSourceOfCall,
  readWindowSource,
} from '../../src/store/log/view.ts';
import { compact, planWithCut } from './support/compaction-builders.ts';
import { act, ACTION_ON_BRANCHES } from './support/growing-conversations.ts';
import type { Action, Growth } from './support/growing-conversations.ts';
import { answer, closeToolCall, headOf, startTurn, step, text, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

/** Calls between two passes, of which the second clears what these calls still saw. */
const TWO_PASSES: Action[] = [
  { kind: 'ask', calls: 2 },
  { kind: 'compact', where: 0 },
  { kind: 'ask', calls: 3 },
  { kind: 'ask', calls: 3 },
  { kind: 'ask', calls: 0 },
  { kind: 'compact', where: 0.4 },
  { kind: 'ask', calls: 0 },
];

describe('the view', () => {
  it('is measured by one row exactly as its entries add up, after anything that can happen', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ACTION_ON_BRANCHES, { minLength: 1, maxLength: 14 }), async (actions) => {
        const growth: Growth = { turn: await startTurn(sql), callNumber: 0, seen: [] };
        for (const action of actions) {
          await act(sql, growth, action);
          const [check, source] = [await readFitCheck(sql, growth.turn), await readPlanSource(sql, growth.turn)];
          const measured = measureView({ ...source, fixed: check.fixed });
          expect(addMeasurements(check.view, check.fixed)).toEqual(measured);
          expect(check.headEntryId).toBe(source.headEntryId);
          expect(subtractMeasurements(measured, check.fixed)).toEqual(check.view);
        }
      }),
      { numRuns: 10 },
    );
  });

  it('of every earlier call can be rebuilt byte for byte, whatever was compacted later', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ACTION_ON_BRANCHES, { minLength: 6, maxLength: 16 }), async (actions) => {
        const growth: Growth = { turn: await startTurn(sql), callNumber: 0, seen: [] };
        for (const action of actions) await act(sql, growth, action);
        for (const call of growth.seen) {
          const source = await readProjectionSourceOfCall(sql, { ...call, attempt: 1 });
          expect(JSON.stringify(projectView(source.input))).toBe(call.view);
        }
      }),
      { numRuns: 6, examples: [[TWO_PASSES]] },
    );
  });

  it('needs only what the cut kept, kept user messages and the newest note of each slot', async () => {
    const growth: Growth = { turn: await startTurn(sql), callNumber: 0, seen: [] };
    const { turn } = growth;
    for (const key of ['a', 'b']) await appendNote(sql, { ...text(key), turn, slot: 'plan', key });
    await step(sql, turn, 1);
    await step(sql, turn, 2);
    const source = await readPlanSource(sql, turn);
    expect([...source.entries].map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const compactionId = await compact(sql, turn, planWithCut(6, { keptSequences: [1] }), {
      text: 'sum',
      measurements: NO_MEASUREMENTS,
    });
    const [view] = await sql`select entries_kept from summaries where compaction_id = ${compactionId}`;
    expect(view).toEqual({ entriesKept: 1 });
    const after = await readPlanSource(sql, turn);
    expect([...after.entries].map(({ sequence, kind }) => [sequence, kind])).toEqual([
      [1, 'user'],
      [3, 'note'],
      [6, 'assistant'],
      [7, 'tool_result'],
      [8, 'compaction'],
    ]);
    expect(after.summary).toMatchObject({
      compactionId,
      coveredThroughSequence: 5,
      firstKeptSequence: 6,
      keptSequences: [1],
      measurements: NO_MEASUREMENTS,
    });
    const projection = await readCurrentProjectionSource(sql, turn.conversationId);
    expect(projection?.input.summary?.text).toBe('sum');
    expect(projection?.input.changedThroughSequence).toBe(8);
    expect(projection?.input.entries.map(({ id }) => id)).toEqual([...after.entries].map(({ id }) => id));
    const window = await readWindowSource(sql, turn.conversationId);
    const { summary: inForce, operations } = after;
    expect(window).toMatchObject({ summary: inForce, operations, calibration: { factor: 1, samples: 0 } });
    expect([...(window?.entries ?? [])]).toEqual([...after.entries]);
  });

  it('of a conversation that a benchmark fills begins with its summary, and is measured with it', async () => {
    const template = await startTurn(sql, 'what is asked');
    for (const callNumber of [1, 2]) await step(sql, template, callNumber);
    await answer(sql, template, 3);
    await endTurn(sql, { turn: template, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    const { turn, conversationId } = await fillConversation(sql, { template: template.conversationId, steps: 130 });
    const projection = await readCurrentProjectionSource(sql, conversationId);
    if (projection === null) throw new Error('a filled conversation has a turn');
    const [summary, request, ...kept] = projectView(projection.input).messages;
    expect(JSON.stringify(summary)).toContain('The user asked for pauses.');
    expect(JSON.stringify(request)).toContain('what is asked');
    // Three steps of an answer and a result, and the last answer.
    expect(kept).toHaveLength(7);
    const [check, source] = [await readFitCheck(sql, turn), await readPlanSource(sql, turn)];
    expect(addMeasurements(check.view, check.fixed)).toEqual(measureView({ ...source, fixed: check.fixed }));
    const [lineage] = await readLineage(sql, conversationId);
    expect(lineage?.parts[0]?.entries).toHaveLength(255);
  });

  it('is refused to a turn that was taken over, and unknown for what does not exist', async () => {
    const turn = await startTurn(sql);
    const headEntryId = await headOf(sql, turn.conversationId);
    const stale = { ...turn, epoch: 0 };
    await expect(readFitCheck(sql, stale)).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(readPlanSource(sql, stale)).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(readProjectionSource(sql, { turn: stale, headEntryId })).rejects.toMatchObject({
      code: 'stale_epoch',
    });
    await expect(readProjectionSource(sql, { turn, headEntryId: newId() })).rejects.toMatchObject({
      code: 'entry_not_found',
    });
    await expect(
      readProjectionSourceOfCall(sql, { turnId: turn.turnId, callNumber: 9, attempt: 1 }),
    ).rejects.toMatchObject({ code: 'model_call_not_found' });
    expect(await readWindowSource(sql, newId())).toBeNull();
    expect(await readWindowSource(sql, 'x')).toBeNull();
  });
});
