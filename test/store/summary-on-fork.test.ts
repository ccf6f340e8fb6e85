import { beforeAll, describe, expect, it } from 'vitest';
import { relevantMemories } from '../../src/activities/turn/agent-memories.ts';
import { textOf } from '../../src/context/log/content.ts';
import { readSummaryInForce } from '../../src/store/conversations/branch-path.ts';
import { readBranchPlaces } from '../../src/store/conversations/branches.ts';
import { commitCompaction } from '../../src/store/compactions/compactions.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { findShownEntries } from '../../src/store/log/notes.ts';
import { readCurrentPoint } from '../../src/store/compactions/plan-source.ts';
import { searchMemory } from '../../src/store/memory/recall-search.ts';
import { end, go } from './support/branch-builders.ts';
import { SUMMARY, commitRequest, plan, turnWithSteps } from './support/compaction-builders.ts';
import { SNAPSHOT, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

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
