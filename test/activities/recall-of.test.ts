import { pino } from 'pino';
import { expect, it } from 'vitest';
import { recallOf } from '../../src/activities/tool/tool-context.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import type { ToolMemory } from '../../src/tools/tool.ts';
import { exported, importLines, richConversation } from '../store/support/conversation-files.ts';
import {
  SNAPSHOT,
  continueConversation,
  endedAs,
  headOf,
  send,
  startTurn,
  useTestStore,
} from '../store/support/store-builders.ts';
import { startRememberer } from './support/rememberer.ts';

const { sql } = useTestStore();

/** The first message of the user in a conversation. */
async function firstMessageOf(conversationId: string): Promise<string> {
  const [first] = await listEntries(sql, { conversationId, kinds: ['user'] });
  return first?.id ?? '';
}

const WORKSPACE = { scope: 'workspace', scopeName: '/tmp' } as const;

/** What recall tools see in another conversation of this user, in the same workspace. */
const recallFor = (user: string): ToolMemory =>
  recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, newId(), [
    { scope: 'agent', scopeName: 'reader' },
    WORKSPACE,
    { scope: 'user', scopeName: user },
  ]);

/**
 * A conversation whose first message is private; a harmless memory of the workspace comes from the newest entry.
 * @param users for whom each of its turns remembers; `null`: for nobody
 */
async function remembered(first: string | null, ...later: readonly (string | null)[]): Promise<string> {
  const snapshotOf = (user: string | null) => ({
    snapshot: user === null ? SNAPSHOT : { ...SNAPSHOT, memory: { user, tokens: 1_000 } },
  });
  let turn = await startTurn(sql, 'My doctor is Dr. Sato.', snapshotOf(first));
  const { conversationId } = turn;
  for (const user of later) {
    await endedAs(sql, turn);
    await send(sql, { conversationId });
    turn = await continueConversation(sql, conversationId, snapshotOf(user));
  }
  const sourceId = await headOf(sql, conversationId);
  const text = `The staging port of ${conversationId} is 6432.`;
  const learned = { conversationId, sourceId };
  await insertMemory(sql, { ...WORKSPACE, ...learned, id: newId(), kind: 'fact', text, origin: 'user' });
  return sourceId;
}

it('shows what stands around the entry of a shared memory to its own user only', async () => {
  const sourceId = await remembered('ada', 'ada');
  expect(await recallFor('ada').around(sourceId, 20)).toMatchObject({
    entries: [{ kind: 'user' }, { entryId: sourceId }],
  });
  expect(await recallFor('bob').around(sourceId, 20)).toBe('of_another_user');
  // The entry itself is what the memory was taken from.
  expect(await recallFor('bob').open(sourceId, 0, 1_000)).toMatchObject({ kind: 'user' });
});

it('shows nothing around an entry of a conversation that remembered for nobody', async () => {
  expect(await recallFor('bob').around(await remembered(null), 20)).toBe('of_another_user');
});

it('shows nothing around an entry of a conversation of which one turn remembered for nobody, or for another', async () => {
  for (const [first, then] of [
    [null, 'ada'],
    ['ada', null],
    ['bob', 'ada'],
  ] as const)
    expect(await recallFor('ada').around(await remembered(first, then), 20)).toBe('of_another_user');
});

it('shows another user the entry of a shared memory without the secrets that the memory does not hold, page by page', async () => {
  const token = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
  const said = `My token is ${token}, the key too. The staging port is 6432.`;
  const ada = await startRememberer(sql, { said });
  await ada.remember('The staging port is 6432.', { scope: 'workspace' });
  const sourceId = await firstMessageOf(ada.turn.conversationId);
  const bob = recallFor('bob');
  const masked = said.replace(token, '*'.repeat(token.length));
  expect(await bob.open(sourceId, 0, 1_000)).toMatchObject({ text: masked, totalCharacters: said.length });
  // The half of a token has no form by which it would be known.
  const middle = said.indexOf(token) + 10;
  expect((await bob.open(sourceId, middle, 10))?.text).toBe('*'.repeat(10));
  expect((await bob.open(sourceId, middle, 1_000))?.text).toBe(masked.slice(middle));
  expect((await recallFor(ada.user).open(sourceId, 0, 1_000))?.text).toBe(said);
});

it('an imported conversation opens entries by the ids of its file, which its texts name', async () => {
  const conversationId = await richConversation(sql);
  const entryId = await firstMessageOf(conversationId);
  const lines = await exported(sql, conversationId);
  const { conversationId: own } = await importLines(sql, lines, { tenant: 'bob', ownIds: true });
  const recall = recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, own);
  expect(await recall.open(entryId, 0, 1_000)).toMatchObject({ kind: 'user' });
  expect(await recall.around(entryId, 1)).toMatchObject({ entries: [{ kind: 'user' }, { kind: 'assistant' }] });
});
