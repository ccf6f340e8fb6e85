import type { Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import type { MemoryScope, StoredMemory } from './memories.ts';

export interface MemoryUser {
  /** Whom the conversation names; `null`: nobody, it is of the agent's own user. */
  readonly named: string | null;
  /** Whose the memories of scope `user` are. */
  readonly name: string;
}

export async function readMemoryUser(sql: Queries, conversationId: string, name: string): Promise<MemoryUser> {
  const [row] = await sql<{ named: string | null }[]>`
    select user_name as named from conversations where id = ${conversationId}`;
  return { named: row?.named ?? null, name };
}

/** Who shares a summary that a conversation flushes: its user alone where it names one, for it tells the conversation. */
export async function readFlushScope(sql: Queries, conversationId: string, workspace: string): Promise<MemoryScope> {
  const [row] = await sql<{ tenant: string; named: string | null }[]>`
    select tenant, user_name as named from conversations where id = ${conversationId}`;
  const { tenant, named = null } = row ?? {};
  return {
    ...(tenant !== undefined && { tenant }),
    ...(named === null ? { scope: 'workspace', scopeName: workspace } : { scope: 'user', scopeName: named }),
  };
}

/**
 * Whether a memory is what another user said: many users may share an agent and its workspace. What the model noted, or has from a
 * tool, is nobody's own, and what was written by hand is the operator's word.
 */
export function isOfAnotherUser(
  { origin, scope, conversationId, user }: Pick<StoredMemory, 'origin' | 'scope' | 'conversationId' | 'user'>,
  { named, name }: MemoryUser,
): boolean {
  return origin === 'user' && scope !== 'user' && conversationId !== null && user !== named && user !== name;
}

/** The same as a condition on `memories m`. */
export function memoryIsOfAnotherUser(sql: Queries, { named, name }: MemoryUser) {
  return sql`(m.origin = 'user' and m.scope <> 'user' and exists (
    select from conversations c where c.id = m.conversation_id
      and c.user_name is distinct from ${named}::text and c.user_name is distinct from ${name}::text))`;
}

export function ofAnotherUser(id: string): StoreError {
  return new StoreError(
    'memory_of_another_user',
    `memory ${id} is what another user said: it is forgotten or superseded only in a conversation of that user`,
  );
}
