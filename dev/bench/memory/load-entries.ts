import type { Database } from '../../../src/store/database/database.ts';
import { newId } from '../../../src/store/database/ids.ts';

/** Rows of one statement. */
const ROWS = 5_000;

export type LoadedKind = 'user' | 'assistant' | 'tool_result';

/**
 * A conversation of these texts, ten seconds apart, the newest now: written as the server would have
 * left it, with triggers and foreign keys off, because a real step for each would take hours. Returns the
 * ids of the entries in order.
 * @param times when each was said, instead
 * @param kindOf who said it. Default: the user, all of it
 */
export async function loadEntries(
  sql: Database,
  count: number,
  textOf: (index: number) => string,
  times?: readonly Date[],
  kindOf: (index: number) => LoadedKind = () => 'user',
): Promise<{ readonly conversationId: string; readonly entryIds: readonly string[] }> {
  const conversationId = newId();
  const turnId = newId();
  const entryIds: string[] = [];
  await sql`
    insert into conversations (id, tenant, task_queue, agent) values (${conversationId}, 'default', 'agent-turn', 'bench')`;
  for (let first = 0; first < count; first += ROWS) {
    const indexes = Array.from({ length: Math.min(ROWS, count - first) }, (_, row) => first + row);
    const ids = indexes.map(() => newId());
    const contents = indexes.map((index) => JSON.stringify([{ type: 'text', text: textOf(index) }]));
    const parents = [entryIds.at(-1) ?? null, ...ids.slice(0, -1)];
    await sql.begin(async (open) => {
      await open`set local role none`;
      await open`set local session_replication_role = replica`;
      await open`
        insert into entries (id, conversation_id, sequence, branch, parent_id, kind, turn_id, epoch, call_number, model_attempt,
          tool_call_count, call_index, tool_name, is_error, content, measurements, sums, created_at)
        select r.id, ${conversationId}, r.sequence, 0, r.parent_id, r.kind, ${turnId}, 1,
          case when r.kind <> 'user' then r.sequence end,
          case when r.kind = 'assistant' then 1 end, case when r.kind = 'assistant' then 0 end,
          case when r.kind = 'tool_result' then 0 end, case when r.kind = 'tool_result' then 'read_file' end,
          case when r.kind = 'tool_result' then false end,
          r.content::json, no_measurements(), no_measurements(),
          coalesce(r.said_at, now() - (${count} - r.sequence) * interval '10 seconds')
        from unnest(${ids}::uuid[], ${parents}::uuid[], ${indexes.map((index) => index + 1)}::int[],
          ${indexes.map(kindOf)}::text[], ${contents}::text[],
          ${indexes.map((index) => times?.[index]?.toISOString() ?? null)}::timestamptz[])
          as r (id, parent_id, sequence, kind, content, said_at)`;
      // Three results of each file, a dozen files in each folder.
      await open`
        insert into tool_calls (turn_id, call_number, call_index, conversation_id, epoch, entry_id, provider_call_id, name, arguments,
          state, finished_at, outcome, result_entry_id)
        select ${turnId}, e.sequence, 0, ${conversationId}, 1, coalesce(e.parent_id, e.id), 'call', e.tool_name,
          to_json(json_build_object('path', format('docs/part-%s/notes-%s.md', e.sequence / 100, e.sequence / 9))::text),
          'finished', now(), 'succeeded', e.id
        from entries e
        where e.conversation_id = ${conversationId} and e.kind = 'tool_result' and e.id = any(${ids}::uuid[])`;
      await open`update conversations set last_sequence = ${first + indexes.length}, is_unindexed = true where id = ${conversationId}`;
    });
    entryIds.push(...ids);
  }
  return { conversationId, entryIds };
}
