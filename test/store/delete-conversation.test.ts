import { describe, expect, it, test } from 'vitest';
import { clientError } from '../../src/client/errors.ts';
import { deleteConversation } from '../../src/store/conversations/delete-conversation.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { indexConversation, searchMemory } from '../../src/store/memory/recall-search.ts';
import { exported, idsOf, richConversation, rowsOf } from './support/conversation-files.ts';
import { code, NOT_GRANTED } from './support/refusals.ts';
import { closeToolCall, said, send, startTurn, useTestStore, conversationOf, text } from './support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { reindexConversation } from '../../src/store/search/index-conversation.ts';
import { end } from './support/branch-builders.ts';
import { waitForWaiters } from './support/lock-waits.ts';

const { sql, owner } = useTestStore();

describe('deleting a conversation', () => {
  it('leaves no row, no index and no memory of it, and names the histories that Temporal keeps', async () => {
    const conversationId = await richConversation(sql);
    const other = await richConversation(sql);
    await indexConversation(sql, conversationId);
    await indexConversation(sql, other);
    expect(await searchMemory(sql, { conversationId, query: 'heron of Utrecht' })).not.toEqual([]);
    const otherBefore = await exported(sql, other);
    const snapshots = async () => (await sql`select from agent_snapshots`).length;
    const shared = await snapshots();
    const own = await startTurn(sql, 'The quokkaheron is a heron', { snapshot: { instructions: 'Only here.' } });
    expect(await snapshots()).toBe(shared + 1);
    await indexConversation(sql, own.conversationId);
    const vocabulary = async () =>
      (await sql<{ term: string }[]>`select term from term_frequencies where term like '%heron'`).map(
        ({ term }) => term,
      );
    expect((await vocabulary()).toSorted()).toEqual(['heron', 'quokkaheron']);
    await endTurn(sql, { turn: own, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    await deleteConversation(sql, own.conversationId);
    expect(await vocabulary()).toEqual(['heron']);
    expect(await snapshots()).toBe(shared);
    const ids = await idsOf(sql, conversationId);
    const { runs } = await deleteConversation(sql, conversationId);
    expect(runs).toHaveLength(2);
    expect(runs.every(({ workflowId }) => workflowId === `agent-turn:${conversationId}`)).toBe(true);
    expect(await rowsOf(sql, ...ids)).toEqual({});
    const orphans = await sql`
      select from content_pieces p where not exists (select from contents o where o.id = p.content_id)`;
    expect(orphans).toHaveLength(0);
    expect(await searchMemory(sql, { conversationId, query: 'heron of Utrecht' })).toEqual([]);
    expect(await exported(sql, other)).toEqual(otherBefore);
    await expect(deleteConversation(sql, conversationId)).rejects.toMatchObject({ code: 'conversation_not_found' });
  });

  it.each(['send', 'search'] as const)('tells who would %s meanwhile that it is gone', async (what) => {
    const turn = await startTurn(sql, 'the heron');
    const { conversationId } = turn;
    await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    let refusal: Promise<unknown> = Promise.resolve(null);
    await sql.begin(async (open) => {
      await open`select from delete_conversation(${conversationId})`;
      const asked =
        what === 'send' ? send(sql, { conversationId }) : searchMemory(sql, { conversationId, query: 'heron' });
      refusal = asked.then(
        () => null,
        (error: unknown) => error,
      );
      await waitUntil('it waits for the deletion', async () => {
        const waiting = await open`
          select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
        return waiting.length > 0;
      });
    });
    const reason = await refusal;
    expect(reason).toMatchObject({
      code: 'conversation_not_found',
      message: expect.stringContaining(conversationId),
    });
    expect(clientError(reason)).toMatchObject({ name: 'HoldfastClientError', code: 'conversation_not_found' });
  });

  it('is refused while a turn is open, and is the only way past the append-only log', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await expect(deleteConversation(sql, conversationId)).rejects.toMatchObject({ code: 'conversation_busy' });
    await expect(exported(sql, conversationId)).rejects.toMatchObject({ code: 'conversation_busy' });
    const deletion = `delete from events where conversation_id = '${conversationId}'`;
    expect(await code(sql.unsafe(deletion))).toBe(NOT_GRANTED);
    expect(await code(sql.unsafe(`do $do$ begin ${deletion}; end $do$`))).toBe(NOT_GRANTED);
    expect(await said(sql, conversationId)).toHaveLength(1);
  });

  it('leaves the tables of others alone, whatever they call their columns', async () => {
    const conversationId = await richConversation(sql);
    await owner.unsafe(`
      create table public.tickets (conversation_id uuid);
      create table public.notes (conversation_id text);
      create schema elsewhere;
      create table elsewhere.entries (conversation_id uuid);
      insert into public.tickets values ('${conversationId}');
      insert into public.notes values ('${conversationId}');
      insert into elsewhere.entries values ('${conversationId}');
      grant usage on schema elsewhere to public`);
    await sql.begin(async (open) => {
      await open`set local search_path = elsewhere, holdfast, public`;
      await open`select from holdfast.delete_conversation(${conversationId})`;
    });
    expect(await rowsOf(sql, conversationId)).toEqual({});
    const [kept] = await owner<{ tickets: number; notes: number; entries: number }[]>`
      select (select count(*)::int from public.tickets) as tickets, (select count(*)::int from public.notes) as notes,
        (select count(*)::int from elsewhere.entries) as entries`;
    expect(kept).toEqual({ tickets: 1, notes: 1, entries: 1 });
  });

  it('is granted to the role of the application, and to nobody else', async () => {
    const conversationId = await richConversation(sql);
    const role = `plain_${newId().replaceAll('-', '')}`;
    await owner.unsafe(`create role ${role}; grant usage on schema holdfast to ${role}`);
    const asOther = owner.begin(async (open) => {
      await open`set local role ${open(role)}`;
      await open`select from holdfast.delete_conversation(${conversationId})`;
    });
    expect(await code(asOther)).toBe(NOT_GRANTED);
    await owner.unsafe(`drop owned by ${role}; drop role ${role}`);
    expect(Object.keys(await rowsOf(sql, conversationId)).length).toBeGreaterThan(10);
  });
});

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
