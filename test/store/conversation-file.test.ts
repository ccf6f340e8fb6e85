import { describe, expect, it } from 'vitest';
import { commitCompaction } from '../../src/store/compactions.ts';
import { writePieces } from '../../src/store/content-pieces.ts';
import { exportConversation } from '../../src/store/conversation-file/export-conversation.ts';
import { importExportedConversation } from '../../src/store/conversation-file/import-exported.ts';
import {
  DERIVED_TABLES,
  FENCED_TABLES,
  TABLES_AFTER,
  TABLES_BEFORE,
} from '../../src/store/conversation-file/tables.ts';
import type { Database } from '../../src/store/database.ts';
import { deleteConversation } from '../../src/store/delete-conversation.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { newId } from '../../src/store/ids.ts';
import { insertMemory, listMemories } from '../../src/store/memories.ts';
import { applyRetention, takeUp } from '../../src/store/retention.ts';
import { indexConversation, searchMemory } from '../../src/store/search.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { code } from './support/refusals.ts';
import { commitRequest, plan, turnWithSteps } from './support/compaction-builders.ts';
import {
  answer,
  closeToolCall,
  continueConversation,
  finishToolCall,
  useTestStore,
  said,
  send,
  startTurn,
  step,
  text,
} from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const ODD = 'NUL \0, a lone surrogate \uD800, a \\u0000 that is none, ü and 漢\n"quoted"';
const RAW = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0x80]), Buffer.alloc(600_000, 'zinnober ')]);

async function end(turn: TurnReference): Promise<void> {
  await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
}

/** Two turns, a compaction, a tool result with a raw original, odd text, a memory; idle. */
async function richConversation(): Promise<string> {
  const turn = await turnWithSteps(sql);
  const { conversationId } = turn;
  const { compaction } = await plan(sql, turn);
  await commitCompaction(sql, commitRequest(turn, compaction.compactionId));
  await answer(sql, turn, 3, { calls: 1, said: ODD, thinking: 'hm \uDC00' });
  const original = await writePieces(sql, conversationId, [RAW]);
  await finishToolCall(sql, turn, 3, 0, { ...text('clipped'), original });
  await answer(sql, turn, 4);
  await end(turn);
  await send(sql, { conversationId, ...text('the heron of Utrecht') });
  const second = await continueConversation(sql, conversationId);
  await step(sql, second, 1);
  await answer(sql, second, 2);
  await end(second);
  await insertMemory(sql, {
    id: newId(),
    scope: 'user',
    scopeName: conversationId,
    kind: 'fact',
    text: ODD,
    origin: 'user',
    conversationId,
  });
  return conversationId;
}

async function exported(conversationId: string, from: Database = sql): Promise<string[]> {
  const lines: string[] = [];
  await exportConversation(from, conversationId, (line) => void lines.push(line));
  return lines;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** Rows anywhere in the database that mention the conversation. */
async function rowsOf(conversationId: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from ${sql(name)} t where strpos(t::text, ${conversationId}) > 0`;
    if (row !== undefined && row.count > 0) found[name] = row.count;
  }
  return found;
}

describe('a conversation file', () => {
  it('comes back equal: originals byte for byte, NUL, lone surrogates, summaries, memories', async () => {
    const conversationId = await richConversation();
    const lines = await exported(conversationId);
    expect(lines.every((line) => !line.includes('\n'))).toBe(true);
    const before = await said(sql, conversationId);
    expect(before.join()).toContain(ODD);
    await deleteConversation(sql, conversationId);
    const imported = await importExportedConversation(sql, each(lines));
    expect(imported).toEqual({ conversationId, turns: 2, entries: before.length });
    expect(await exported(conversationId)).toEqual(lines);
    expect(await said(sql, conversationId)).toEqual(before);
    const [raw] = await sql<{ bytes: Uint8Array }[]>`
      select string_agg(p.data, '' order by p.number) as bytes from content_pieces p join contents o on o.id = p.content_id
      where o.conversation_id = ${conversationId}`;
    expect(Buffer.compare(Buffer.from(raw?.bytes ?? []), RAW)).toBe(0);
    const [memory] = await listMemories(sql, { scopes: [{ scope: 'user', scopeName: conversationId }] });
    expect(memory?.text).toBe(ODD);
    // It goes on as any other: the fences know where it stands.
    await send(sql, { conversationId });
    await step(sql, await continueConversation(sql, conversationId), 1);
  });

  it('leaves out memories whose place one of another conversation took, by whatever chain, and comes back equal', async () => {
    const conversationId = await richConversation();
    const other = await richConversation();
    const workspace = { scope: 'workspace', scopeName: conversationId } as const;
    const remember = async (of: string, supersedes: readonly string[] = []): Promise<string> => {
      const what = { id: newId(), kind: 'fact', text: 'a fact', origin: 'user', conversationId: of } as const;
      await insertMemory(sql, { ...workspace, ...what, supersedes });
      return what.id;
    };
    const first = await remember(conversationId);
    const second = await remember(conversationId, [first]);
    const newer = await remember(other, [second]);
    const older = await remember(conversationId);
    const inForce = await remember(conversationId, [older]);
    const lines = await exported(conversationId);
    await deleteConversation(sql, conversationId);
    await importExportedConversation(sql, each(lines));
    expect(await exported(conversationId)).toEqual(lines);
    const scopes = [workspace];
    const all = await listMemories(sql, { scopes, all: true });
    expect(all.map(({ id }) => id).toSorted()).toEqual([newer, older, inForce].toSorted());
    const standing = await listMemories(sql, { scopes });
    expect(standing.map(({ id }) => id).toSorted()).toEqual([newer, inForce].toSorted());
    // A file of an older version names a successor that it does not hold.
    await deleteConversation(sql, conversationId);
    const dangling = lines.map((line) =>
      line.includes(`"id":"${inForce}"`) ? line.replace('"superseded_by":null', `"superseded_by":"${newId()}"`) : line,
    );
    expect(dangling).not.toEqual(lines);
    await importExportedConversation(sql, each(dangling));
    expect((await listMemories(sql, { scopes, all: true })).map(({ id }) => id)).toEqual([newer]);
  });

  it('is refused when the conversation is here, when it was tampered with, and leaves nothing behind', async () => {
    const conversationId = await richConversation();
    const lines = await exported(conversationId);
    await expect(importExportedConversation(sql, each(lines))).rejects.toMatchObject({ code: 'conversation_exists' });
    await deleteConversation(sql, conversationId);
    const other = await startTurn(sql);
    const reaching = lines.map((line) =>
      line.startsWith('{"table" : "events"') ? line.replaceAll(conversationId, other.conversationId) : line,
    );
    expect(reaching).not.toEqual(lines);
    await expect(importExportedConversation(sql, each(reaching))).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringMatching(/line \d+ of the file: a row of events belongs to another conversation/),
    });
    const cut = [...lines.slice(0, 5), lines[5]?.slice(0, 40) ?? ''];
    await expect(importExportedConversation(sql, each(cut))).rejects.toThrow('may have been cut off');
    const short = lines.slice(0, -2);
    await expect(importExportedConversation(sql, each(short))).rejects.toThrow('its end is missing');
    const lost = lines.filter((_, index) => index !== lines.length - 2);
    await expect(importExportedConversation(sql, each(lost))).rejects.toThrow(/it has \d+ rows, of \d+/);
    const untimed = lines.map((line) => line.replace(/"created_at":"[^"]*"/, '"created_at":"secret"'));
    const refusal = await importExportedConversation(sql, each(untimed)).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'conversation_file_invalid', message: expect.stringContaining('22007') });
    expect(String(refusal)).not.toContain('secret');
    const gap = lines.filter((line) => !line.includes('"sequence":3,'));
    await expect(importExportedConversation(sql, each(gap))).rejects.toMatchObject({ code: 'sequence_gap' });
    await expect(importExportedConversation(sql, each(['{"a":1}']))).rejects.toThrow('`holdfast export`');
    expect(await rowsOf(conversationId)).toEqual({});
  });

  it('holds every table that names a conversation, or says that the table is derived', async () => {
    const rows = await sql<{ name: string }[]>`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and a.attname = 'conversation_id' and not a.attisdropped
        and c.relnamespace = 'public'::regnamespace`;
    const known = new Set([...TABLES_BEFORE, ...FENCED_TABLES, ...TABLES_AFTER].map(({ name }) => name));
    expect(
      rows
        .map(({ name }) => name)
        .filter((name) => !known.has(name))
        .toSorted(),
    ).toEqual([...DERIVED_TABLES].toSorted());
  });
});

describe('deleting a conversation', () => {
  it('leaves no row, no index and no memory of it, and names the histories that Temporal keeps', async () => {
    const conversationId = await richConversation();
    const other = await richConversation();
    await indexConversation(sql, conversationId);
    await indexConversation(sql, other);
    expect(await searchMemory(sql, { conversationId, query: 'heron of Utrecht' })).not.toEqual([]);
    const otherBefore = await exported(other);
    const runs = await deleteConversation(sql, conversationId);
    expect(runs).toHaveLength(2);
    expect(runs.every(({ workflowId }) => workflowId === `agent-turn:${conversationId}`)).toBe(true);
    expect(await rowsOf(conversationId)).toEqual({});
    const orphans = await sql`
      select from content_pieces p where not exists (select from contents o where o.id = p.content_id)`;
    expect(orphans).toHaveLength(0);
    expect(await searchMemory(sql, { conversationId, query: 'heron of Utrecht' })).toEqual([]);
    expect(await exported(other)).toEqual(otherBefore);
    await expect(deleteConversation(sql, conversationId)).rejects.toMatchObject({ code: 'conversation_not_found' });
  });

  it('is refused while a turn is open, and is the only way past the append-only log', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await expect(deleteConversation(sql, conversationId)).rejects.toMatchObject({ code: 'conversation_busy' });
    await expect(exported(conversationId)).rejects.toMatchObject({ code: 'conversation_busy' });
    const own = sql`conversation_id = ${conversationId}`;
    expect(await code(sql`delete from events where ${own}`)).toBe('HF003');
    const quoted = `do $do$ begin delete from events where conversation_id = '${conversationId}'
      and 'delete_conversation(uuid)' <> ''; end $do$`;
    expect(await code(sql.unsafe(quoted))).toBe('HF003');
    expect(await said(sql, conversationId)).toHaveLength(1);
  });

  it('works for a role that may only delete rows', async () => {
    const conversationId = await richConversation();
    const role = `plain_${newId().replaceAll('-', '')}`;
    await sql.unsafe(
      `create role ${role}; grant select, insert, update, delete on all tables in schema public to ${role}`,
    );
    try {
      await sql.begin(async (open) => {
        await open.unsafe(`set local role ${role}`);
        await open`select from delete_conversation(${conversationId})`;
      });
      expect(await rowsOf(conversationId)).toEqual({});
    } finally {
      await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
    }
  });
});

describe('retention', () => {
  const never = new AbortController().signal;

  /** An idle conversation of an agent that was active so many days ago. */
  async function idle(agent: string, daysAgo: number, characters = 10): Promise<string> {
    const conversationId = newId();
    await send(sql, { conversationId, agent, ...text('x'.repeat(characters)) });
    const turn = await continueConversation(sql, conversationId);
    await end(turn);
    await sql`update conversations set active_at = holdfast_now() - make_interval(days => ${daysAgo}) where id = ${conversationId}`;
    return conversationId;
  }

  const exists = async (id: string): Promise<boolean> =>
    (await sql`select from conversations where id = ${id}`).length > 0;

  it('deletes what is older than its agent keeps it, never what waits or works', async () => {
    const old = await idle('scratch', 10);
    const waiting = await idle('scratch', 10);
    await send(sql, { conversationId: waiting });
    await sql`update conversations set active_at = holdfast_now() - interval '10 days' where id = ${waiting}`;
    const young = await idle('scratch', 3);
    const ofAnother = await idle('archive', 10);
    const rules = [{ agent: 'scratch', days: 7, megabytes: null }];
    expect(await applyRetention(sql, rules, never)).toBe(1);
    expect(await Promise.all([old, waiting, young, ofAnother].map(exists))).toEqual([false, true, true, true]);
    // A rule for all leaves agents alone that have their own.
    const both = [...rules, { agent: null, days: 5, megabytes: null }];
    expect(await applyRetention(sql, both, never)).toBe(1);
    expect(await Promise.all([young, ofAnother].map(exists))).toEqual([true, false]);
  });

  it('is taken up by one worker, and again when it is due', async () => {
    const taken = await Promise.all(Array.from({ length: 5 }, () => takeUp(sql, 'retention', 600)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    await sql`update upkeep_marks set done_at = done_at - interval '11 minutes'`;
    expect(await takeUp(sql, 'retention', 600)).toBe(true);
  });

  it('deletes the least recently active until an agent fits its size', async () => {
    const sized = [await idle('large', 3, 700_000), await idle('large', 2, 700_000), await idle('large', 1, 700_000)];
    expect(await applyRetention(sql, [{ agent: 'large', days: null, megabytes: 1.5 }], never)).toBe(1);
    expect(await Promise.all(sized.map(exists))).toEqual([false, true, true]);
  });
});
