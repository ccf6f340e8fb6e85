import { expect, it } from 'vitest';
import { withMemories } from '../../src/activities/turn/agent-memories.ts';
import { textOf } from '../../src/context/log/content.ts';
import type { ContentPart } from '../../src/context/log/content.ts';
import { newId } from '../../src/store/database/ids.ts';
import { SNAPSHOT, register, startTurn, useTestStore } from '../store/support/store-builders.ts';
import { activityDependencies } from './support/activity-dependencies.ts';
import { startRememberer } from './support/rememberer.ts';

const { sql } = useTestStore();

const COMMITTED = { kind: 'committed', view: { headEntryId: newId(), tokens: 100 }, tokensBefore: 200 } as const;

it('a note takes back the memories that are gone, and not those in force that notes before it show', async () => {
  const { user, remember, forget } = await startRememberer(sql);
  const eels = await remember('The heron eats eels.');
  await remember('The heron eats frogs.');
  const turn = await startTurn(sql, 'And the heron?', { snapshot: { ...SNAPSHOT, memory: { user, tokens: 1_000 } } });
  const noteBehind = async (callNumber: number): Promise<string | undefined> => {
    await register(sql, turn, callNumber);
    const boundary = { callNumber: callNumber + 1, runId: 'woken' };
    await withMemories(activityDependencies(sql), { turn, compactionId: newId(), boundary }, COMMITTED);
    const [newest] = await sql<{ content: ContentPart[] }[]>`
      select content from entries where conversation_id = ${turn.conversationId} and kind = 'note'
      order by sequence desc limit 1`;
    return newest && textOf(newest.content);
  };
  expect(await noteBehind(1)).toMatch(/eels[^]*frogs|frogs[^]*eels/u);
  await forget(eels.id);
  expect(await noteBehind(2)).toMatch(new RegExp(`^No longer holds.*: ${eels.id}$`, 'u'));
});

it('a note behind a compaction is left out when it comes too late for the call, which another worker has begun', async () => {
  const { user, remember } = await startRememberer(sql);
  await remember('The staging port is 6432.');
  const snapshot = { ...SNAPSHOT, memory: { user, tokens: 1_000 } };
  const turn = await startTurn(sql, 'Which staging port?', { snapshot });
  const compactionId = newId();
  const note = (callNumber: number) =>
    withMemories(
      activityDependencies(sql),
      { turn, compactionId, boundary: { callNumber, runId: 'woken' } },
      COMMITTED,
    );
  await register(sql, turn, 1);
  expect(await note(1)).toEqual(COMMITTED);
  expect(await note(2)).toMatchObject({
    view: { headEntryId: expect.not.stringMatching(COMMITTED.view.headEntryId) },
  });
});
