import { describe, expect, it } from 'vitest';
import { clientError } from '../../src/client/errors.ts';
import { connectDatabase } from '../../src/store/database.ts';
import type { Database } from '../../src/store/database.ts';
import { deleteConversation } from '../../src/store/delete-conversation.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { newId } from '../../src/store/ids.ts';
import { indexConversation, searchMemory } from '../../src/store/search.ts';
import { exported, idsOf, richConversation, rowsOf } from './support/conversation-files.ts';
import { code } from './support/refusals.ts';
import { closeToolCall, conversationOf, said, send, startTurn, useTestStore } from './support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

describe('deleting a conversation', () => {
  it('leaves no row, no index and no memory of it, and names the histories that Temporal keeps', async () => {
    const conversationId = await richConversation(sql);
    const other = await richConversation(sql);
    await indexConversation(sql, conversationId);
    await indexConversation(sql, other);
    expect(await searchMemory(sql, { conversationId, query: 'heron of Utrecht' })).not.toEqual([]);
    const otherBefore = await exported(sql, other);
    const own = await conversationOf(sql, 'The quokkaheron is a heron');
    await indexConversation(sql, own.conversationId);
    const vocabulary = async () =>
      (await sql<{ term: string }[]>`select term from search_vocabulary where term like '%heron'`).map(
        ({ term }) => term,
      );
    expect((await vocabulary()).toSorted()).toEqual(['heron', 'quokkaheron']);
    await endTurn(sql, { turn: own, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    await deleteConversation(sql, own.conversationId);
    expect(await vocabulary()).toEqual(['heron']);
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
    const own = sql`conversation_id = ${conversationId}`;
    expect(await code(sql`delete from events where ${own}`)).toBe('HF003');
    const quoted = `do $do$ begin delete from events where conversation_id = '${conversationId}'
      and 'delete_conversation(uuid)' <> ''; end $do$`;
    expect(await code(sql.unsafe(quoted))).toBe('HF003');
    expect(await said(sql, conversationId)).toHaveLength(1);
  });

  it.each([
    ['in another schema', 'create schema elsewhere', 'elsewhere.delete_conversation', ''],
    ['found before it', 'create schema elsewhere', 'elsewhere.delete_conversation', 'elsewhere, public'],
    ['of a name that ends like its name', 'select', 'x1delete_conversation', ''],
    ['of a quoted name', 'select', '"X ""delete_conversation(uuid)"', ''],
  ])('a function %s gets no further', async (_, prepare, name, path) => {
    const conversationId = await richConversation(sql);
    await sql.unsafe(prepare);
    await sql.unsafe(`create function ${name}(conversation uuid) returns void language plpgsql as $$
      begin delete from events e where e.conversation_id = conversation; end $$`);
    try {
      const work = sql.begin(async (open) => {
        if (path !== '') await open.unsafe(`set local search_path to ${path}`);
        await open.unsafe(`select ${name}('${conversationId}')`);
      });
      expect(await code(work)).toBe('HF003');
      await sql.begin(async (open) => {
        if (path !== '') await open.unsafe(`set local search_path to ${path}`);
        await open.unsafe(`set local session_replication_role to 'origin'`);
        await open`select from public.delete_conversation(${conversationId})`;
      });
      expect(await rowsOf(sql, conversationId)).toEqual({});
    } finally {
      await sql.unsafe(`drop function ${name}(uuid); drop schema if exists elsewhere cascade`);
    }
  });

  it('works for a role that may only delete rows, also where the connection has called it by its schema', async () => {
    const conversationId = await richConversation(sql);
    const role = `plain_${newId().replaceAll('-', '')}`;
    await sql.unsafe(
      `create role ${role}; grant select, insert, update, delete on all tables in schema public to ${role}`,
    );
    try {
      const connection = connectDatabase({ url, applicationName: 'fresh', maximumConnections: 1 });
      // Postgres remembers the name by which a connection called it first.
      await connection`create schema elsewhere`;
      await connection.unsafe(
        "create function elsewhere.delete_conversation(uuid) returns void language sql as 'select'",
      );
      await connection`set search_path to elsewhere, public`;
      await connection`select from public.delete_conversation(${newId()})`;
      await connection`drop schema elsewhere cascade`;
      await connection`reset search_path`;
      await connection`set role ${connection(role)}`;
      await connection`select from delete_conversation(${conversationId})`;
      await connection.end();
      expect(await rowsOf(sql, conversationId)).toEqual({});
    } finally {
      await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
    }
  });
});
