import { expect, test } from 'vitest';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

test('an index that is interrupted stops after two million characters, keeps what it did, and goes on from there', async () => {
  const file = 'QUJD'.repeat(525_000);
  const { conversationId } = await conversationOf(sql, `${file} first`, `${file} second`);
  const through = async () => {
    const [row] = await sql<{ through: number }[]>`
      select through_sequence as through from search_progress where conversation_id = ${conversationId}`;
    return row?.through;
  };
  await indexConversation(sql, conversationId, { signal: AbortSignal.abort() });
  expect(await through()).toBe(1);
  await indexConversation(sql, conversationId);
  expect(await through()).toBe(2);
  expect((await searchMemory(sql, { conversationId, query: 'second' }))[0]?.text).toContain('second');
});
