import type { Database } from '../../src/store/database/database.ts';

/** The newest row of a table whose ids are in order. */
export const newest = (sql: Database, table: string) => sql`(select id from ${sql(table)} order by id desc limit 1)`;

/** A branch that forks behind entry 5, with one entry, the summary of what it leaves; then `change`, which gets that entry's id. */
async function forkAt(sql: Database, fork: number, change: (entry: string) => PromiseLike<unknown>): Promise<void> {
  await sql`
    insert into branches (conversation_id, branch, ancestor, through_sequence)
    select id, 1, ancestor, through from conversations, (values (0, ${fork}::int), (1, 2147483647)) added (ancestor, through)`;
  const [entry] = await sql<{ id: string }[]>`
    insert into entries (id, conversation_id, sequence, branch, parent_id, kind, turn_id, epoch, content, measurements, sums)
    select gen_random_uuid(), p.conversation_id, c.last_sequence + 1, 1, p.id, 'branch_summary', t.id, t.epoch, p.content, no_measurements(), p.sums
    from entries p join conversations c on c.id = p.conversation_id join turns t on t.id = ${newest(sql, 'turns')}
    where p.sequence = ${fork} returning id`;
  await sql`
    update conversations set last_sequence = last_sequence + 1, branch = 1, head_entry_id = ${entry?.id ?? ''}`;
  await change(entry?.id ?? '');
}

/** The same, with what its summary says that it covers. */
export function leaveBranch(
  sql: Database,
  { from, through }: { readonly from: number; readonly through: number | 'end' },
): Promise<void> {
  return forkAt(
    sql,
    5,
    (entry) => sql`
      insert into branch_summaries (entry_id, conversation_id, left_branch, from_sequence, through_sequence, files,
        prompt_version)
      select e.id, e.conversation_id, 0, ${from}, ${through === 'end' ? sql`e.sequence - 1` : through}, '{}', '1'
      from entries e where e.id = ${entry}`,
  );
}

/** A result at the end of the log of a call that nobody made. */
async function appendResult(sql: Database): Promise<void> {
  await sql`
    insert into entries (id, conversation_id, sequence, branch, parent_id, kind, turn_id, epoch, call_number, call_index, tool_name,
      is_error, content, measurements, sums)
    select gen_random_uuid(), h.conversation_id, h.sequence + 1, h.branch, h.id, 'tool_result', r.turn_id, h.epoch, 1, 9,
      r.tool_name, false, r.content, no_measurements(), h.sums
    from conversations c join entries h on h.id = c.head_entry_id
    join lateral (
      select * from entries e where e.conversation_id = c.id and e.kind = 'tool_result' order by e.sequence limit 1) r on true`;
  await sql`
    update conversations c set last_sequence = last_sequence + 1,
      head_entry_id = (select id from entries e where e.conversation_id = c.id order by sequence desc limit 1)`;
}

/** A person was asked about a call that succeeded. */
export async function askAbout(sql: Database, state: 'waiting' | 'approved' | 'denied' | 'expired'): Promise<void> {
  await sql`
    insert into decisions (turn_id, call_number, call_index, conversation_id, epoch, kind, agent, tool, rules, state, scope, requested_at,
      expires_at, decided_at)
    select turn_id, call_number, call_index, conversation_id, epoch, 'approval', 'agent', name, '{rule}', ${state},
      ${state === 'approved' || state === 'denied' ? 'call' : null}, finished_at, finished_at,
      ${state === 'waiting' ? null : sql`finished_at`}
    from tool_calls where call_number = 2 and outcome = 'succeeded'`;
}

/** Names of invariants, each with what breaks it in a database with one conversation of several turns and compactions. */
export const DAMAGES: readonly (readonly [string, (sql: Database) => Promise<unknown>])[] = [
  ['log_without_gaps', (sql) => sql`delete from entries where sequence = 5`],
  [
    'head_is_newest',
    (sql) => sql`update conversations set head_entry_id = (select id from entries where sequence = 3)`,
  ],
  [
    'answers_answer_something',
    (sql) => sql`
      update entries e set parent_id = a.id from entries a
      where a.kind = 'assistant' and e.kind = 'assistant' and e.turn_id = a.turn_id and e.call_number = a.call_number + 1`,
  ],
  ['message_enters_once', (sql) => sql`delete from entries where kind = 'user'`],
  ['message_enters_once', (sql) => sql`update messages set turn_id = null`],
  ['message_enters_once', (sql) => sql`update messages set turn_id = ${newest(sql, 'turns')}`],
  [
    'message_enters_once',
    async (sql) => {
      await sql`insert into messages (id, conversation_id, kind, mode, content, measurements, consumed_at)
        select 'lost', conversation_id, kind, mode, content, measurements, consumed_at from messages where kind = 'message' limit 1`;
    },
  ],
  [
    'parents_along_branches',
    (sql) => sql`
    update entries set parent_id = (select id from entries where sequence = 3) where sequence = 6`,
  ],
  [
    'parents_along_branches',
    (sql) =>
      forkAt(sql, 5, (entry) => sql`update entries set parent_id = ${newest(sql, 'entries')} where id = ${entry}`),
  ],
  [
    'messages_in_order',
    async (sql) => {
      await sql`alter table messages alter position drop identity`;
      await sql`update messages set position = -position where mode = 'queue'`;
    },
  ],
  ['one_result_per_call', (sql) => sql`delete from tool_calls where call_number = 2`],
  ['one_result_per_call', (sql) => sql`update tool_calls set result_entry_id = entry_id where call_number = 3`],
  ['one_result_per_call', appendResult],
  ['result_follows_call', (sql) => sql`update entries set branch = 1 where kind = 'tool_result' and call_number = 2`],
  [
    'result_follows_call',
    (sql) => sql`
    update tool_calls t set entry_id = (select e.id from entries e where e.kind = 'assistant' and e.call_number = 5 and e.turn_id = t.turn_id)
    where call_number = 3`,
  ],
  [
    'events_once',
    (sql) => sql`
    update events set data = data || '{"callNumber": 2}' where kind = 'model_call_answered' and data ->> 'callNumber' = '3'`,
  ],
  ['events_once', (sql) => sql`update events set kind = 'turn_ended' where kind = 'turn_begun'`],
  [
    'ended_turn_leaves_nothing_open',
    (sql) => sql`
    update tool_calls set state = 'claimed', finished_at = null, outcome = null, result_entry_id = null, attempt = 1, claimed_at = now()
    where call_number = 2`,
  ],
  ['ended_turn_leaves_nothing_open', (sql) => askAbout(sql, 'waiting')],
  [
    'ended_turn_leaves_nothing_open',
    (sql) => sql`
    update compactions set status = 'planned', finished_at = null, number = null, marker_entry_id = null,
      view_after = null, tokens_after = null where id = ${newest(sql, 'compactions')}`,
  ],
  ['decision_is_obeyed', (sql) => askAbout(sql, 'denied')],
  ['decision_is_obeyed', (sql) => askAbout(sql, 'expired')],
  [
    'open_turn_is_active',
    (sql) => sql`update turns set outcome = null, ended_at = null where id = ${newest(sql, 'turns')}`,
  ],
  [
    'stop_meets_its_turn',
    (sql) => sql`
    insert into messages (id, conversation_id, kind, mode, content, measurements, sent_epoch, consumed_at)
    select 'swallowed', t.conversation_id, 'stop', 'steer', '[]', no_measurements(), t.epoch, t.ended_at - interval '1 ms'
    from turns t where t.id = ${newest(sql, 'turns')}`,
  ],
  [
    'stop_meets_its_turn',
    async (sql) => {
      await sql`
        insert into messages (id, conversation_id, kind, mode, content, measurements, turn_id, consumed_at)
        select 'disobeyed', t.conversation_id, 'stop', 'steer', '[]', no_measurements(), t.id, holdfast_now()
        from turns t where t.id = ${newest(sql, 'turns')}`;
      await sql`update turns set outcome = null, ended_at = null where id = ${newest(sql, 'turns')}`;
    },
  ],
  ...(['message', 'compact'] as const).map((kind): (typeof DAMAGES)[number] => [
    'stop_meets_what_came_before',
    async (sql) => {
      for (const [sent, order] of [
        [kind, 'desc'],
        ['stop', 'asc'],
      ] as const)
        await sql`
          insert into messages (id, conversation_id, kind, mode, content, measurements, turn_id, consumed_at, created_at)
          select ${`escaped ${sent}`}, t.conversation_id, ${sent}, 'steer', '[]', no_measurements(), t.id, t.ended_at,
            t.begun_at + ${sent === 'stop' ? 1 : 0} * interval '1 hour'
          from turns t order by t.id ${order === 'asc' ? sql`asc` : sql`desc`} limit 1`;
    },
  ]),
  [
    'one_answer_per_call',
    (sql) => sql`
    insert into model_attempts (turn_id, purpose, call_number, attempt, conversation_id, epoch, model, head_entry_id, compactions, view_fingerprint,
      renderer_version, estimated_tokens, state, entry_id, ended_at)
    select turn_id, purpose, call_number, attempt + 1, conversation_id, epoch, model, head_entry_id, compactions, view_fingerprint,
      renderer_version, estimated_tokens, state, entry_id, ended_at
    from model_attempts where purpose = 'step' and call_number = 3`,
  ],
  [
    'one_answer_per_call',
    (sql) => sql`
    update model_attempts set state = 'failed', failure_kind = 'lost', entry_id = null where purpose = 'step' and call_number = 3`,
  ],
  ['one_answer_per_call', (sql) => sql`update model_attempts set entry_id = null where call_number = 3`],
  [
    'one_recovery_per_turn',
    (sql) => sql`
    update compactions set reason = 'overflow', turn_id = (select id from turns order by id limit 1) where status = 'committed'`,
  ],
  ['usage_adds_up', (sql) => sql`update turns set input_tokens = input_tokens + 1`],
  ['usage_adds_up', (sql) => sql`update turns set cache_read_tokens = cache_read_tokens + 1`],
  ['usage_adds_up', (sql) => sql`update turns set cost = cost + 5`],
  ['usage_adds_up', (sql) => sql`update turns set steps = 0`],
  ['usage_adds_up', (sql) => sql`update turns set tool_calls = tool_calls + 1`],
  ['usage_adds_up', (sql) => sql`update model_attempts set cost = 77 where call_number = 3`],
  ['usage_adds_up', (sql) => sql`update model_attempts set cost = cost + 5 where purpose = 'summary_part'`],
  ['totals_add_up', (sql) => sql`update conversations set cost = cost + 5`],
  ['totals_add_up', (sql) => sql`update conversations set calls_of_unknown_cost = calls_of_unknown_cost + 1`],
  ['totals_add_up', (sql) => sql`update conversations set input_tokens = 1`],
  ['totals_add_up', (sql) => sql`update conversations set model_calls = 1`],
  ['totals_add_up', (sql) => sql`update conversations set steps = 0`],
  ['totals_add_up', (sql) => sql`update conversations set tool_calls = 0`],
  ['totals_add_up', (sql) => sql`update conversations set worked_seconds = worked_seconds + 60`],
  ['compactions_numbered', (sql) => sql`update conversations set compactions = compactions + 1`],
  ['compaction_is_whole', (sql) => sql`delete from compaction_operations`],
  ['compaction_is_whole', (sql) => sql`update compaction_parts set state = 'planned', text = null`],
  [
    'lineage_complete',
    (sql) => sql`update compaction_parts set from_sequence = to_sequence where from_sequence < to_sequence`,
  ],
  ['lineage_complete', (sql) => leaveBranch(sql, { from: 7, through: 'end' })],
  ['lineage_complete', (sql) => leaveBranch(sql, { from: 6, through: 9 })],
  [
    'view_rebuilds',
    (sql) => sql`
    update entries set content = '[{"type":"text","text":"Say The fourth turn is done."}]' where kind = 'user' and sequence > 3`,
  ],
  [
    'view_rebuilds',
    (sql) => sql`update entries set content = '[{"type":"tool_call","id":7,"arguments":{}}]' where kind = 'assistant'`,
  ],
];
