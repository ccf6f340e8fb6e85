import { pino } from 'pino';
import { expect, it } from 'vitest';
import { recallOf } from '../../src/activities/recall-of.ts';
import type { Database } from '../../src/store/database.ts';
import { newId } from '../../src/store/ids.ts';
import { insertMemory } from '../../src/store/memories.ts';
import type { ToolMemory } from '../../src/tools/tool.ts';
import { SNAPSHOT, headOf, startTurn, useTestStore } from '../store/support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const WORKSPACE = { scope: 'workspace', scopeName: '/tmp' } as const;

/** What recall tools see in another conversation of this user, in the same workspace. */
const recallFor = (user: string): ToolMemory =>
  recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, newId(), [
    { scope: 'agent', scopeName: 'reader' },
    WORKSPACE,
    { scope: 'user', scopeName: user },
  ]);

/** A conversation whose first message is private; a harmless memory of the workspace comes from the newest entry. */
async function remembered(memory: { readonly user: string; readonly tokens: number } | undefined): Promise<string> {
  const snapshot = memory === undefined ? SNAPSHOT : { ...SNAPSHOT, memory };
  const { conversationId } = await startTurn(sql, 'My doctor is Dr. Sato.', { snapshot });
  const sourceId = await headOf(sql, conversationId);
  const text = `The staging port of ${conversationId} is 6432.`;
  const learned = { conversationId, sourceId };
  await insertMemory(sql, { ...WORKSPACE, ...learned, id: newId(), kind: 'fact', text, origin: 'user' });
  return sourceId;
}

it('shows what stands around the entry of a shared memory to its own user only', async () => {
  const sourceId = await remembered({ user: 'ada', tokens: 1_000 });
  expect(await recallFor('ada').around(sourceId, 20)).toMatchObject({ entries: [{ entryId: sourceId }] });
  expect(await recallFor('bob').around(sourceId, 20)).toBe('of_another_user');
  // The entry itself is what the memory was taken from.
  expect(await recallFor('bob').open(sourceId, 0, 1_000)).toMatchObject({ kind: 'user' });
});

it('shows nothing around an entry of a conversation that remembered for nobody', async () => {
  expect(await recallFor('bob').around(await remembered(undefined), 20)).toBe('of_another_user');
});
