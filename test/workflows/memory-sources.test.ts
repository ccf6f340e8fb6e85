import { afterEach, beforeEach, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { listMemories } from '../support/list-memories.ts';
import type { StoredMemory } from '../../src/store/memory/memories.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { dieInOrder } from '../support/ordered-deaths.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

const SAID = 'The heron gate opens at seven bar, and at nine on Sundays.';
/** As the model calls it: the user has not said its number. */
const NOTED = 'The spoonbill number 1 came without a ring.';
const TASK = [
  `Mind this. ${SAID}`,
  `Call remember with {"text":"${SAID}"} and remember with {"text":"The spoonbill number $index came without a ring."} 1 times`,
  'Say Noted.',
].join('\n');

let harness: TurnHarness;

beforeEach(async () => {
  harness = await startTurnHarness({ agent: { memory: true } });
});

afterEach(() => harness.stop());

const memories = (): Promise<StoredMemory[]> =>
  listMemories(harness.database, { scopes: [{ scope: 'workspace', scopeName: harness.workspace }] });

/** Each memory with the kind of the entry that it names as its source, which holds its words. */
async function kindsOfSources(): Promise<Record<string, string>> {
  const kinds: Record<string, string> = {};
  for (const { text, sourceId } of await memories()) {
    const { kind, content } = await harness.client.log.open({ entryId: sourceId ?? '' });
    expect(JSON.stringify(content)).toContain(text);
    kinds[text] = kind;
  }
  return kinds;
}

test('a memory names an entry that is stored, also when the worker that wrote it died before the result of the call was', async () => {
  const sent = await harness.client.start(TASK);
  await dieInOrder(harness, ['runTool:memory-written']);
  const outcome = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(outcome).toMatchObject({ outcome: 'completed' });
  expect(await kindsOfSources()).toEqual({ [SAID]: 'user', [NOTED]: 'assistant' });
  await expectAllHolds(harness);
});

test('so it does when the turn is stopped there, and recall opens it in another conversation', async () => {
  const sent = await harness.client.start(TASK);
  const stop = () => harness.client.conversation.stop({ conversationId: sent.conversationId });
  await dieInOrder(harness, ['runTool:memory-written', { at: 'endTurn:written', before: stop }]);
  const outcome = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(outcome).toMatchObject({ outcome: 'stopped' });
  const kinds = await kindsOfSources();
  for (const [text, kind] of Object.entries(kinds)) expect(kind).toBe(text === SAID ? 'user' : 'assistant');
  const [kept] = await memories();
  const { conversationId } = await harness.runTask(
    `Call recall_open with {"entry_id":"${kept?.sourceId ?? ''}"}\nSay Opened.`,
  );
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 100 });
  const result = textOf(entries.find(({ toolName }) => toolName === 'recall_open')?.content ?? []);
  expect(result).toContain(`of conversation ${sent.conversationId}`);
  expect(result).toContain(kept?.text ?? 'nothing');
  await expectAllHolds(harness);
});
