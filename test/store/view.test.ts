import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewAfterCompaction } from '../../src/context/judge-compaction.ts';
import { addMeasurements, NO_MEASUREMENTS, subtractMeasurements } from '../../src/context/measurement-arithmetic.ts';
import { measureView } from '../../src/context/measure-view.ts';
import type { CompactionPlan, Operation } from '../../src/context/plan.ts';
import { canonicalView, projectView } from '../../src/context/project-view.ts';
import { commitCompaction, storePlan } from '../../src/store/compactions.ts';
import type { Database } from '../../src/store/database.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { appendNote } from '../../src/store/entries.ts';
import { readFitCheck, readPlanSource } from '../../src/store/fit-check.ts';
import type { PlanSource } from '../../src/store/fit-check.ts';
import { newId } from '../../src/store/ids.ts';
import { takeMessages } from '../../src/store/inbox.ts';
import { readCurrentProjectionSource, readProjectionSource, readProjectionSourceOfCall } from '../../src/store/view.ts';
import { readWindowSource } from '../../src/store/window-source.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  answer,
  begin,
  closeToolCall,
  finishToolCall,
  headOf,
  useTestStore,
  send,
  startTurn,
  step,
  text,
} from './support/store-builders.ts';
import { planWithCut } from './support/compaction-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

/** A conversation that grows by random actions, with what was seen by each model call. */
interface Growth {
  turn: TurnReference;
  callNumber: number;
  readonly seen: { turnId: string; callNumber: number; view: string }[];
}

async function view(turn: TurnReference): Promise<string> {
  const headEntryId = await headOf(sql, turn.conversationId);
  return canonicalView(projectView((await readProjectionSource(sql, { turn, headEntryId })).input));
}

async function ask(growth: Growth, calls: number): Promise<void> {
  growth.callNumber += 1;
  const { turn, callNumber } = growth;
  growth.seen.push({ turnId: turn.turnId, callNumber, view: await view(turn) });
  await answer(sql, turn, callNumber, { calls, said: `answer number ${callNumber}`, thinking: 'hm' });
  for (let index = 0; index < calls; index += 1) {
    const plan = index === 1 ? { plan: text(`plan of call ${callNumber}`) } : {};
    // Long enough that clearing it makes it smaller.
    await finishToolCall(sql, turn, callNumber, index, { ...text(`result ${'of many words '.repeat(50)}`), ...plan });
  }
}

async function nextTurn(growth: Growth, rules: string): Promise<void> {
  const { conversationId } = growth.turn;
  await endTurn(sql, { turn: growth.turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  await send(sql, { conversationId, ...text(`message under ${rules}`) });
  const begun = await begin(sql, conversationId, { rules: rules === '' ? null : text(rules) });
  if (begun.kind !== 'begun') throw new Error('nothing waited');
  growth.turn = begun.turn;
  growth.callNumber = 0;
}

/** Starts of groups after the present cut, where a cut may fall. */
function possibleCuts({ entries, summary }: PlanSource): number[] {
  const from = summary?.firstKeptSequence ?? 1;
  return [...entries]
    .filter(({ kind, sequence }) => sequence > from && kind !== 'tool_result' && kind !== 'note')
    .map(({ sequence }) => sequence);
}

/** Cuts at a place chosen by `where`, keeps every other user message, clears every third kept result. */
async function compact(growth: Growth, where: number): Promise<void> {
  const { turn } = growth;
  const source = await readPlanSource(sql, turn);
  const cuts = possibleCuts(source);
  const cut = cuts[Math.floor(where * cuts.length)] ?? null;
  const keptUserEntryIds = [...source.entries]
    .filter(({ kind, sequence }) => cut !== null && kind === 'user' && sequence < cut && sequence % 2 === 0)
    .map(({ id }) => id);
  const operations = [...source.entries]
    .filter(({ kind, sequence }) => kind === 'tool_result' && sequence >= (cut ?? 0) && sequence % 3 === 0)
    .map(({ id }): Operation => ({ entryId: id, kind: 'clear', measurements: { ...NO_MEASUREMENTS, letters: 2 } }));
  const plan: CompactionPlan =
    cut === null
      ? planWithCut(1, { firstKeptSequence: null, coveredThroughSequence: null, parts: [], operations })
      : planWithCut(cut, { operations, keptUserEntryIds });
  const compactionId = newId();
  const { headEntryId } = source;
  await storePlan(sql, {
    turn,
    callNumber: 1,
    compactionId,
    plan,
    reason: 'threshold',
    preset: 'default',
    headEntryId,
  });
  const measurements = { ...NO_MEASUREMENTS, letters: 30 };
  await commitCompaction(sql, {
    turn,
    compactionId,
    summary:
      cut === null
        ? null
        : {
            text: `summary through ${cut}`,
            measurements,
            sections: [],
            files: { read: [], modified: [] },
            model: null,
            promptVersion: '1',
          },
    viewAfter: viewAfterCompaction(
      { ...source, fixed: NO_MEASUREMENTS },
      plan,
      compactionId,
      cut === null ? null : measurements,
    ),
    tokensAfter: 10,
    continuation: where > 0.5 ? text('go on') : null,
  });
}

type Action =
  | { readonly kind: 'ask'; readonly calls: number }
  | { readonly kind: 'steer' }
  | { readonly kind: 'compact'; readonly where: number }
  | { readonly kind: 'turn'; readonly rules: string };

const ACTION: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('ask' as const), calls: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('steer' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('compact' as const),
      where: fc.double({ min: 0, max: 0.999, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('turn' as const), rules: fc.constantFrom('', 'be kind', 'be brief') }),
  },
);

async function act(growth: Growth, action: Action): Promise<void> {
  switch (action.kind) {
    case 'ask':
      return ask(growth, action.calls);
    case 'compact':
      return compact(growth, action.where);
    case 'turn':
      return nextTurn(growth, action.rules);
    case 'steer':
      await send(sql, { conversationId: growth.turn.conversationId, ...text('by the way') });
      await takeMessages(sql, growth.turn);
  }
}

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
      fc.asyncProperty(fc.array(ACTION, { minLength: 1, maxLength: 14 }), async (actions) => {
        const growth: Growth = { turn: await startTurn(sql), callNumber: 0, seen: [] };
        for (const action of actions) {
          await act(growth, action);
          const [check, source] = [await readFitCheck(sql, growth.turn), await readPlanSource(sql, growth.turn)];
          const measured = measureView({ ...source, fixed: check.fixed });
          expect(addMeasurements(check.view, check.fixed)).toEqual(measured);
          expect(check.headEntryId).toBe(source.headEntryId);
          expect(subtractMeasurements(measured, check.fixed)).toEqual(check.view);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('of every earlier call can be rebuilt byte for byte, whatever was compacted later', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ACTION, { minLength: 6, maxLength: 16 }), async (actions) => {
        const growth: Growth = { turn: await startTurn(sql), callNumber: 0, seen: [] };
        for (const action of actions) await act(growth, action);
        for (const call of growth.seen) {
          const source = await readProjectionSourceOfCall(sql, { ...call, attempt: 1 });
          expect(canonicalView(projectView(source.input))).toBe(call.view);
        }
      }),
      { numRuns: 10, examples: [[TWO_PASSES]] },
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
    const [user] = source.entries;
    const compactionId = newId();
    await storePlan(sql, {
      turn,
      callNumber: 3,
      compactionId,
      plan: planWithCut(6, { keptUserEntryIds: [user?.id ?? ''] }),
      reason: 'manual',
      preset: 'default',
      headEntryId: source.headEntryId,
    });
    const summary = {
      text: 'sum',
      measurements: NO_MEASUREMENTS,
      sections: [],
      files: { read: [], modified: [] },
      model: null,
      promptVersion: '1',
    };
    await commitCompaction(sql, {
      turn,
      compactionId,
      summary,
      viewAfter: NO_MEASUREMENTS,
      tokensAfter: 1,
      continuation: null,
    });
    const after = await readPlanSource(sql, turn);
    expect([...after.entries].map(({ sequence, kind }) => [sequence, kind])).toEqual([
      [1, 'user'],
      [3, 'note'],
      [6, 'assistant'],
      [7, 'tool_result'],
      [8, 'compaction'],
    ]);
    expect(after.summary).toEqual({
      compactionId,
      coveredThroughSequence: 5,
      firstKeptSequence: 6,
      keptUserEntryIds: [user?.id],
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
