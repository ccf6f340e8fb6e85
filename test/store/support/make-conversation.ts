import type { Database } from '../../../src/store/database/database.ts';

/** A conversation without messages, unless it is there already. */
export async function makeConversation(
  sql: Database,
  conversationId: string,
  {
    tenant = 'default',
    agent = 'reader',
    user = null,
  }: { readonly tenant?: string; readonly agent?: string; readonly user?: string | null } = {},
): Promise<void> {
  await sql`
    insert into conversations (id, tenant, task_queue, agent, user_name)
    select ${conversationId}::uuid, ${tenant}, 'agent-turn', ${agent}, ${user} where not exists (
      select from conversations where id = ${conversationId})`;
}
