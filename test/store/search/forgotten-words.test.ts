import { describe, expect, it } from 'vitest';
import { deleteConversation } from '../../../src/store/conversations/delete-conversation.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { reindexConversation } from '../../../src/store/search/index-conversation.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { end } from '../support/branch-builders.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

async function indexed(...messages: readonly string[]): Promise<string> {
  const turn = await conversationOf(sql, ...messages);
  await end(sql, turn);
  await indexConversation(sql, turn.conversationId);
  return turn.conversationId;
}

async function isKnown(word: string): Promise<boolean> {
  const rows = await sql`select from term_frequencies where term = ${word}`;
  return rows.length > 0;
}

/** Work that begins while a conversation is being deleted and that transaction is open; both end before this does. */
async function whileDeleting(conversationId: string, work: () => Promise<unknown>): Promise<void> {
  let beside: Promise<unknown> = Promise.resolve();
  await sql.begin(async (open) => {
    await open`select from delete_conversation(${conversationId})`;
    let isDone = false;
    beside = work().finally(() => (isDone = true));
    await waitUntil('the other one waits, or has nothing to wait for', async () => {
      const [row] = await sql<{ waits: boolean }[]>`
        select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waits`;
      return isDone || row?.waits === true;
    });
  });
  await beside;
}

describe('words of a conversation that is deleted are forgotten', () => {
  it('also those that an interrupted reindex had not come to', async () => {
    const conversationId = await indexed(`${'QUJD'.repeat(525_000)} first`, 'the quokkasecret stands here');
    expect(await isKnown('quokkasecret')).toBe(true);
    await reindexConversation(sql, conversationId, { signal: AbortSignal.abort() });
    await deleteConversation(sql, conversationId);
    expect(await isKnown('quokkasecret')).toBe(false);
  });

  it('also when another conversation that has them is deleted at the same time', async () => {
    const [one, other] = [await indexed('the zebrasecret of one'), await indexed('the zebrasecret of the other')];
    await whileDeleting(one, () => deleteConversation(sql, other));
    expect(await isKnown('zebrasecret')).toBe(false);
  });

  it('but not one that a conversation is just indexed with', async () => {
    const one = await indexed('the giraffeword of one');
    const { conversationId } = await conversationOf(sql, 'the giraffeword of the other');
    await whileDeleting(one, () => indexConversation(sql, conversationId));
    expect(await isKnown('giraffeword')).toBe(true);
    expect(await searchMemory(sql, { conversationId, query: 'girafeword' })).not.toEqual([]);
  });

  it('and a reindex keeps those that it finds again, and those of others', async () => {
    const [one, other] = [await indexed('a wombatword and an emuword'), await indexed('an emuword')];
    await reindexConversation(sql, one);
    expect([await isKnown('wombatword'), await isKnown('emuword')]).toEqual([true, true]);
    await deleteConversation(sql, one);
    expect([await isKnown('wombatword'), await isKnown('emuword')]).toEqual([false, true]);
    await deleteConversation(sql, other);
    expect(await isKnown('emuword')).toBe(false);
  });
});
