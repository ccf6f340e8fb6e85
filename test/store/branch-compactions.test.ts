import { describe, expect, it, beforeAll } from 'vitest';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { measureView } from '../../src/context/view/view-arrangement.ts';
import type { CompactionPlan, Operation } from '../../src/context/plan/plan.ts';
import { projectView } from '../../src/context/view/project-view.ts';
import { commitCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { appendNote, listEntries } from '../../src/store/log/entries.ts';
import { readFitCheck, readPlanSource } from '../../src/store/compactions/fit-check.ts';
import { readCurrentProjectionSource, readProjectionSourceOfCall } from '../../src/store/log/view.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { end, go } from './support/branch-builders.ts';
import { commitRequest, plan, planWithCut, SUMMARY, turnWithSteps } from './support/compaction-builders.ts';
import {
  answer,
  continueConversation,
  finishToolCall,
  headOf,
  send,
  startTurn,
  text,
  useTestStore,
  SNAPSHOT,
} from './support/store-builders.ts';
import { relevantMemories } from '../../src/activities/turn/agent-memories.ts';
import { textOf } from '../../src/context/log/content.ts';
import { readSummaryInForce, readCurrentPoint } from '../../src/store/conversations/branch-path.ts';
import { readBranchPlaces } from '../../src/store/conversations/branches.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { findShownEntries } from '../../src/store/log/notes.ts';
import { searchMemory } from '../../src/store/memory/recall-search.ts';

const { sql } = useTestStore();
const RESULT = 'of many words '.repeat(50);

/** What the next request of the conversation holds, byte for byte. */
async function view(conversationId: string): Promise<string> {
  const source = await readCurrentProjectionSource(sql, conversationId);
  if (source === null) throw new Error('no turn yet');
  return JSON.stringify(projectView(source.input));
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
    expect(JSON.stringify(projectView(input))).toBe(seen);
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

describe('a summary whose marker lies behind the fork, and all that it was told of before', () => {
  const user = `user-${newId()}`;
  let conversationId: string;
  let compactionId: string;
  let ids: readonly string[];

  beforeAll(async () => {
    const turn = await turnWithSteps(sql);
    ({ conversationId } = turn);
    const { compaction } = await plan(sql, turn);
    ({ compactionId } = compaction);
    const summary = { ...SUMMARY, text: 'The heron nests at marker 4711.' };
    await commitCompaction(sql, commitRequest(turn, compactionId, { summary }));
    await end(sql, turn);
    ids = (await listEntries(sql, { conversationId })).slice(0, 5).map(({ id }) => id);
    await insertMemory(sql, {
      id: newId(),
      scope: 'user',
      scopeName: user,
      kind: 'fact',
      text: 'The heron table lives in bird_db.',
      origin: 'user',
      conversationId,
      sourceId: ids[2] ?? '',
    });
    await go(sql, conversationId, { entryId: ids[4] ?? '', summarizes: false });
  });

  it('is in force there, and hides what it covers', async () => {
    const point = await readCurrentPoint(sql, conversationId);
    if (point === null) throw new Error('there is no entry');
    expect(point.branch).toBe(1);
    expect(await readSummaryInForce(sql, point)).toMatchObject({ compactionId, firstKeptSequence: 4 });
    expect((await findShownEntries(sql, conversationId, ids)).toSorted()).toEqual(ids.slice(3).toSorted());
  });

  it('leaves to the memory what it hides: its source is out of the window', async () => {
    const snapshot = { ...SNAPSHOT, memory: { user, tokens: 1_000 } };
    const note = await relevantMemories(sql, { conversationId, snapshot, goal: 'heron table' });
    expect(textOf(note?.content ?? [])).toContain('The heron table lives in bird_db.');
  });

  it('counts as of the active branch in a search', async () => {
    const found = await searchMemory(sql, { conversationId, query: 'heron nests marker' });
    expect(found.find(({ entryId }) => entryId === compactionId)).toBeDefined();
    expect(found.find(({ entryId }) => entryId === compactionId)?.branch).toBeUndefined();
    expect((await readBranchPlaces(sql, [compactionId])).get(compactionId)).toEqual({
      branch: 0,
      onActiveBranch: true,
    });
  });

  it('is left where the fork lies before what it was told of', async () => {
    await go(sql, conversationId, { entryId: ids[0] ?? '', summarizes: false });
    expect((await readBranchPlaces(sql, [compactionId])).get(compactionId)?.onActiveBranch).toBe(false);
    const found = await searchMemory(sql, { conversationId, query: 'heron nests marker' });
    expect(found.find(({ entryId }) => entryId === compactionId)?.branch).toBe(0);
    expect(await findShownEntries(sql, conversationId, ids)).toEqual(ids.slice(0, 1));
  });
});
