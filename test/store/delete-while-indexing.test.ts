import { expect, test } from 'vitest';
import { deleteConversation } from '../../src/store/conversations/delete-conversation.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { indexConversation } from '../../src/store/memory/recall-search.ts';
import { reindexConversation } from '../../src/store/search/index-conversation.ts';
import { end } from './support/branch-builders.ts';
import { rowsOf } from './support/conversation-files.ts';
import { waitForWaiters } from './support/lock-waits.ts';
import { conversationOf, send, text, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

/** An idle conversation of which the first message is indexed, and a second one that is not. */
async function halfIndexed(): Promise<string> {
  const turn = await conversationOf(sql, 'The numbat sleeps in a log.');
  const { conversationId } = turn;
  await indexConversation(sql, conversationId);
  await send(sql, { conversationId, ...text('The quokka sleeps under a bush.') });
  await takeMessages(sql, turn);
  await end(sql, turn);
  return conversationId;
}

test('a deletion that begins while a batch is indexed waits for the batch, and both end well', async () => {
  const conversationId = await halfIndexed();
  let both: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
  await sql.begin(async (open) => {
    // The batch has how far the conversation is indexed, and wants to write what it found.
    await open`lock table passages in share mode`;
    const indexing = indexConversation(sql, conversationId);
    await waitForWaiters(open, 1);
    const deletion = deleteConversation(sql, conversationId);
    both = Promise.allSettled([indexing, deletion]);
    await waitForWaiters(open, 2);
  });
  const [indexed, deleted] = await both;
  expect(indexed).toMatchObject({ status: 'fulfilled', value: { passages: 1 } });
  expect(deleted).toMatchObject({ status: 'fulfilled' });
  expect(await rowsOf(sql, conversationId)).toEqual({});
});

test('a deletion that begins while passages get vectors waits for them', async () => {
  const conversationId = await halfIndexed();
  let deletion: Promise<unknown> = Promise.resolve();
  await sql.begin(async (open) => {
    // As vectors are stored, for which this Postgres has no type.
    await open`select from search_progress where conversation_id = ${conversationId} for no key update`;
    deletion = deleteConversation(sql, conversationId);
    await waitForWaiters(open, 1);
    await open`select from passages where conversation_id = ${conversationId} for key share`;
  });
  await deletion;
  expect(await rowsOf(sql, conversationId)).toEqual({});
});

test('a deletion that begins while the index is built anew waits until the old one is gone, and both end', async () => {
  const conversationId = await halfIndexed();
  let both: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
  await sql.begin(async (open) => {
    // As who has just finished indexing: what is built anew must mark the conversation again, and waits for its row.
    await open`select from search_progress where conversation_id = ${conversationId} for update`;
    const anew = reindexConversation(sql, conversationId);
    await waitForWaiters(open, 1);
    await open`update conversations set is_unindexed = false where id = ${conversationId}`;
    const deletion = deleteConversation(sql, conversationId);
    both = Promise.allSettled([anew, deletion]);
    await waitForWaiters(open, 2);
  });
  const [anew, deleted] = await both;
  expect(deleted).toMatchObject({ status: 'fulfilled' });
  // Whether there was anything left to index when the deletion came.
  if (anew?.status === 'rejected') expect(anew.reason).toMatchObject({ code: 'conversation_not_found' });
  expect(await rowsOf(sql, conversationId)).toEqual({});
});
