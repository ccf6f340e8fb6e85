import { createHash } from 'node:crypto';
import { commitCompaction } from '../../../src/store/compactions/commit-compaction.ts';
import { PIECE_BYTES, writePieces } from '../../../src/store/log/content-pieces.ts';
import { exportConversation } from '../../../src/store/transfer/export-conversation.ts';
import { importExportedConversation } from '../../../src/store/transfer/import-file.ts';
import type { ImportedFile, ImportExportedRequest } from '../../../src/store/transfer/import-file.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { deleteConversation } from '../../../src/store/conversations/delete-conversation.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { claimToolCall, storeToolResult } from '../../../src/store/attempts/tool-calls.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { insertMemory } from '../../support/insert-memory.ts';
import { end } from './branch-builders.ts';
import { commitRequest, plan, turnWithSteps } from './compaction-builders.ts';
import { answer, claimer, continueConversation, finishToolCall, send, step, text } from './store-builders.ts';

export const ODD = 'NUL \0, a lone surrogate \uD800, a \\u0000 that is none, ü and 漢\n"quoted"';
/** Two pieces of it are stored. */
export const RAW = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0x80]), Buffer.alloc(PIECE_BYTES, 'zinnober ')]);

/** Two turns, a compaction, a tool result with a raw original, one that came too late, odd text, a memory; idle. */
export async function richConversation(sql: Database): Promise<string> {
  const turn = await turnWithSteps(sql);
  const { conversationId } = turn;
  await sql`update conversations set user_name = 'ada' where id = ${conversationId}`;
  const { compaction } = await plan(sql, turn);
  await sql`
    update compaction_parts set state = 'written', text = '"what was read"', epoch = ${turn.epoch}
    where compaction_id = ${compaction.compactionId}`;
  await commitCompaction(sql, commitRequest(turn, compaction.compactionId));
  await answer(sql, turn, 3, { calls: 2, said: ODD, thinking: 'hm \uDC00' });
  const original = await writePieces(sql, conversationId, [RAW]);
  await finishToolCall(sql, turn, 3, 0, { ...text('clipped'), original });
  await finishTwice(sql, turn, 3, 1);
  await answer(sql, turn, 4);
  await end(sql, turn);
  await send(sql, { conversationId, ...text('the heron of Utrecht') });
  const second = await continueConversation(sql, conversationId);
  await step(sql, second, 1);
  await answer(sql, second, 2);
  await end(sql, second);
  await insertMemory(sql, {
    id: newId(),
    scope: 'user',
    scopeName: conversationId,
    kind: 'fact',
    text: ODD,
    // As every memory of a file is when it was imported.
    origin: 'model',
    conversationId,
  });
  return conversationId;
}

/** The result of the worker that was taken over comes too, with an original of its own. */
async function finishTwice(sql: Database, turn: TurnReference, callNumber: number, callIndex: number): Promise<void> {
  const call = { turn, callNumber, callIndex };
  await claimToolCall(sql, { ...call, ...claimer('worker-1') });
  await claimToolCall(sql, { ...call, ...claimer('worker-2', 2) });
  const result = { ...call, entryId: newId(), outcome: 'succeeded', fingerprint: 'f1' } as const;
  const original = await writePieces(sql, turn.conversationId, [Buffer.from('all that came too late')]);
  const late = { ...result, attempt: 1, workerIdentity: 'worker-1', ...text('too late'), original };
  const { state } = await storeToolResult(sql, late);
  if (state !== 'late') throw new Error(`the result that is to be late is ${state}`);
  await storeToolResult(sql, { ...result, attempt: 2, workerIdentity: 'worker-2', ...text('in time') });
}

export async function exported(sql: Database, conversationId: string): Promise<string[]> {
  const lines: string[] = [];
  await exportConversation(sql, conversationId, (line) => void lines.push(line));
  return lines;
}

/** The lines of a file as a conversation of `reader`; who imports says what it is, by `of`. */
export function importLines(
  sql: Database,
  lines: readonly string[],
  of: Partial<ImportExportedRequest> = {},
): Promise<ImportedFile> {
  async function* each(): AsyncGenerator<string> {
    yield* lines;
  }
  return importExportedConversation(sql, {
    lines: each(),
    agent: 'reader',
    settings: { model: null, preset: null, workspace: null, user: null },
    memoryScopes: { agent: 'reader', workspace: '/work', user: 'ada' },
    ...of,
  });
}

/** A file with these lines between its first and its last, whose checksum is right. */
export function sealed(header: string, rows: readonly string[]): string[] {
  const lines = [header, ...rows];
  const sha256 = createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex');
  return [...lines, JSON.stringify({ sha256 })];
}

/** A file, and its conversation deleted. */
export async function fileOf(sql: Database, conversationId: string): Promise<string[]> {
  const lines = await exported(sql, conversationId);
  await deleteConversation(sql, conversationId);
  return lines;
}

/** Each row that `change` has something for changed by it; throws when there is none. */
export function changed(lines: readonly string[], change: (line: string) => string): string[] {
  const rows = lines.slice(1, -1);
  const made = rows.map(change);
  if (made.every((line, index) => line === rows[index])) throw new Error('the change finds no line');
  return sealed(lines[0] ?? '', made);
}

/** By which rows may name a conversation: itself, its turns, originals and compactions. */
export async function idsOf(sql: Database, conversationId: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select ${conversationId}::uuid as id
    union all select id from turns where conversation_id = ${conversationId}
    union all select id from contents where conversation_id = ${conversationId}
    union all select id from compactions where conversation_id = ${conversationId}`;
  return rows.map(({ id }) => id);
}

/** Rows anywhere in the database that mention one of these. */
export async function rowsOf(sql: Database, ...ids: readonly string[]): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'holdfast'::regnamespace`;
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from ${sql(name)} t
      where exists (select from unnest(${[...ids]}::text[]) as id where strpos(t::text, id) > 0)`;
    if (row !== undefined && row.count > 0) found[name] = row.count;
  }
  return found;
}
