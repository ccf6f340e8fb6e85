import { describe, expect, it } from 'vitest';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { measureView } from '../../src/context/view/view-arrangement.ts';
import type { CompactionPlan, Operation } from '../../src/context/plan/plan.ts';
import { canonicalView, projectView } from '../../src/context/view/project-view.ts';
import { commitCompaction } from '../../src/store/compactions/compactions.ts';
import { appendNote, listEntries } from '../../src/store/log/entries.ts';
import { readFitCheck, readPlanSource } from '../../src/store/compactions/fit-check.ts';
import { readCurrentProjectionSource, readProjectionSourceOfCall } from '../../src/store/log/view.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { end, go } from './support/branch-builders.ts';
import { commitRequest, plan, planWithCut } from './support/compaction-builders.ts';
import {
  answer,
  continueConversation,
  finishToolCall,
  headOf,
  send,
  startTurn,
  text,
  useTestStore,
} from './support/store-builders.ts';

const { sql } = useTestStore();

const RESULT = 'of many words '.repeat(50);

/** What the next request of the conversation holds, byte for byte. */
async function view(conversationId: string): Promise<string> {
  const source = await readCurrentProjectionSource(sql, conversationId);
  if (source === null) throw new Error('no turn yet');
  return canonicalView(projectView(source.input));
}

/** A step with reasoning and a long result. */
async function longStep(turn: TurnReference, call: number): Promise<void> {
  await answer(sql, turn, call, { calls: 1, thinking: `why ${call}` });
  await finishToolCall(sql, turn, call, 0, text(`${call} ${RESULT}`));
}

async function compact(turn: TurnReference, given: Partial<CompactionPlan>): Promise<void> {
  const noCut = { firstKeptSequence: null, coveredThroughSequence: null, parts: [] };
  const { compaction } = await plan(sql, turn, planWithCut(1, { ...noCut, ...given }));
  const hasSummary = compaction.plan.coveredThroughSequence !== null;
  await commitCompaction(sql, commitRequest(turn, compaction.compactionId, hasSummary ? {} : { summary: null }));
}

async function clearing(conversationId: string, which: (sequence: number) => boolean): Promise<Operation[]> {
  const entries = await listEntries(sql, { conversationId });
  return entries
    .filter(({ kind, sequence }) => (kind === 'note' || kind === 'tool_result') && which(sequence))
    .map(({ id }) => ({ entryId: id, kind: 'clear', measurements: { ...NO_MEASUREMENTS, letters: 2 } }));
}

async function note(turn: TurnReference, slot: 'plan' | 'memories', said: string): Promise<void> {
  await appendNote(sql, { ...text(said), turn, slot, key: said });
}

/** Forks at the head and begins a turn there. */
async function goOnElsewhere(conversationId: string): Promise<TurnReference> {
  await go(sql, conversationId, { entryId: await headOf(sql, conversationId), summarizes: false });
  await send(sql, { conversationId, ...text('elsewhere') });
  return continueConversation(sql, conversationId);
}

/** Goes on with a branch: its view before the next message, and whether the next check counts just what it shows. */
async function back(conversationId: string, branch: number): Promise<string> {
  await go(sql, conversationId, { branch, summarizes: false });
  const seen = await view(conversationId);
  await send(sql, { conversationId, ...text('back') });
  const turn = await continueConversation(sql, conversationId);
  const { view: counted } = await readFitCheck(sql, turn);
  expect(counted).toEqual(measureView({ ...(await readPlanSource(sql, turn)), fixed: NO_MEASUREMENTS }));
  await end(sql, turn);
  return seen;
}

describe('a compaction of a branch', () => {
  it('leaves whole on another what it cleared from before the fork', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await longStep(turn, 1);
    await end(sql, turn);
    const before = await view(conversationId);
    expect(before).toContain(RESULT);
    const elsewhere = await goOnElsewhere(conversationId);
    await longStep(elsewhere, 1);
    await compact(elsewhere, { operations: await clearing(conversationId, () => true) });
    await answer(sql, elsewhere, 2);
    const there = await view(conversationId);
    expect(there).not.toContain(RESULT);
    await end(sql, elsewhere);
    expect(await back(conversationId, 0)).toBe(before);
    expect(await back(conversationId, 1)).toBe(there);
  });

  it('leaves there what the model saw at its calls', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await longStep(turn, 1);
    await end(sql, turn);
    const elsewhere = await goOnElsewhere(conversationId);
    await compact(elsewhere, { operations: await clearing(conversationId, () => true) });
    const seen = await view(conversationId);
    await answer(sql, elsewhere, 1);
    await end(sql, elsewhere);
    await back(conversationId, 0);
    const { turnId } = elsewhere;
    const { input } = await readProjectionSourceOfCall(sql, { turnId, callNumber: 1, attempt: 1 });
    expect(canonicalView(projectView(input))).toBe(seen);
  });

  it('leaves the plan and the memories of another, of which it has newer ones', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await note(turn, 'plan', 'plan A');
    await note(turn, 'memories', 'memories A');
    await longStep(turn, 1);
    await end(sql, turn);
    const before = await view(conversationId);
    const fork = (await listEntries(sql, { conversationId })).length;
    const elsewhere = await goOnElsewhere(conversationId);
    await note(elsewhere, 'plan', 'plan B');
    await note(elsewhere, 'memories', 'memories B');
    await compact(elsewhere, { operations: await clearing(conversationId, (sequence) => sequence <= fork) });
    await end(sql, elsewhere);
    expect(await view(conversationId)).not.toContain('plan A');
    expect(before).toContain('plan A');
    expect(await back(conversationId, 0)).toBe(before);
  });

  it('keeps the reasoning that another has since its own newest compaction', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await longStep(turn, 1);
    await longStep(turn, 2);
    await compact(turn, { operations: await clearing(conversationId, (sequence) => sequence === 3) });
    await longStep(turn, 3);
    await end(sql, turn);
    const before = await view(conversationId);
    expect(before).toContain('why 3');
    expect(before).not.toContain('why 2');
    const elsewhere = await goOnElsewhere(conversationId);
    await compact(elsewhere, { operations: await clearing(conversationId, () => true) });
    await end(sql, elsewhere);
    expect(await view(conversationId)).not.toContain('why 3');
    expect(await back(conversationId, 0)).toBe(before);
  });

  it('shows with its summary all that another says after what it covers, without the reasoning before it', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await longStep(turn, 1);
    const [, , result] = await listEntries(sql, { conversationId });
    await longStep(turn, 2);
    await end(sql, turn);
    // 1 user, 2 to 5 two steps. Forked after the first: 6 user, 7 and 8 a step; the cut is at 6.
    await go(sql, conversationId, { entryId: result?.id ?? '', summarizes: false });
    await send(sql, { conversationId, ...text('elsewhere') });
    const elsewhere = await continueConversation(sql, conversationId);
    await longStep(elsewhere, 1);
    const { parts } = planWithCut(4);
    await compact(elsewhere, { firstKeptSequence: 6, coveredThroughSequence: 3, parts });
    await end(sql, elsewhere);
    const there = await view(conversationId);
    expect(there).toContain('elsewhere');
    const seen = await back(conversationId, 0);
    expect(seen).toContain('Goal: read.');
    expect(seen).toContain(`2 ${RESULT}`);
    expect(seen).not.toContain(`1 ${RESULT}`);
    expect(seen).not.toContain('why 2');
    expect(await back(conversationId, 1)).toBe(there);
  });
});
