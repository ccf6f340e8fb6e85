import { commitCompaction } from '../../../src/store/compactions.ts';
import { writePieces } from '../../../src/store/content-pieces.ts';
import { exportConversation } from '../../../src/store/conversation-file/export-conversation.ts';
import type { Database } from '../../../src/store/database.ts';
import { newId } from '../../../src/store/ids.ts';
import { insertMemory } from '../../../src/store/memories.ts';
import { end } from './branch-builders.ts';
import { commitRequest, plan, turnWithSteps } from './compaction-builders.ts';
import { answer, continueConversation, finishToolCall, send, step, text } from './store-builders.ts';

export const ODD = 'NUL \0, a lone surrogate \uD800, a \\u0000 that is none, ü and 漢\n"quoted"';
export const RAW = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0x80]), Buffer.alloc(600_000, 'zinnober ')]);

/** Two turns, a compaction, a tool result with a raw original, odd text, a memory; idle. */
export async function richConversation(sql: Database): Promise<string> {
  const turn = await turnWithSteps(sql);
  const { conversationId } = turn;
  await sql`update conversations set user_name = 'ada' where id = ${conversationId}`;
  const { compaction } = await plan(sql, turn);
  await commitCompaction(sql, commitRequest(turn, compaction.compactionId));
  await answer(sql, turn, 3, { calls: 1, said: ODD, thinking: 'hm \uDC00' });
  const original = await writePieces(sql, conversationId, [RAW]);
  await finishToolCall(sql, turn, 3, 0, { ...text('clipped'), original });
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
    origin: 'user',
    conversationId,
  });
  return conversationId;
}

export async function exported(sql: Database, conversationId: string): Promise<string[]> {
  const lines: string[] = [];
  await exportConversation(sql, conversationId, (line) => void lines.push(line));
  return lines;
}

export async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** Rows anywhere in the database that mention the conversation. */
export async function rowsOf(sql: Database, conversationId: string): Promise<Record<string, number>> {
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
