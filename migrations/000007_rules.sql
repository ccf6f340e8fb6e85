-- What constraints and privileges cannot say. Refusals carry an SQLSTATE of class HF (src/store/database/errors.ts).

create function require_epoch(conversation uuid, writer integer) returns conversations language plpgsql as $$
declare
  found_row conversations;
begin
  -- The version that this transaction wrote nobody else can change: a lock would only go to the WAL.
  select * into found_row from conversations c
  where c.id = conversation and c.xmin = xid(pg_current_xact_id_if_assigned());
  if not found then
    select * into found_row from conversations c where c.id = conversation for no key update;
  end if;
  if found_row.epoch is distinct from writer then
    raise exception using errcode = 'HF001', message = format(
      'conversation %s is at epoch %s; a writer of epoch %s was replaced', conversation, found_row.epoch, writer);
  end if;
  return found_row;
end $$;
comment on function require_epoch is 'Locks the conversation and refuses a writer of another epoch (HF001).';

create function refuse_stale_epoch() returns trigger language plpgsql as $$
begin
  perform require_epoch(new.conversation_id, new.epoch);
  return new;
end $$;
comment on function refuse_stale_epoch is 'Trigger: the row''s epoch must be the conversation''s.';

create trigger refuse_stale_epoch before insert on turns for each row execute function refuse_stale_epoch();
create trigger refuse_stale_epoch before insert on decisions for each row execute function refuse_stale_epoch();
create trigger refuse_stale_epoch before insert on model_attempts for each row execute function refuse_stale_epoch();
create trigger refuse_stale_epoch before insert on tool_calls for each row execute function refuse_stale_epoch();
create trigger refuse_stale_epoch before insert on compactions for each row execute function refuse_stale_epoch();
create trigger refuse_stale_epoch before insert on compaction_parts for each row execute function refuse_stale_epoch();
-- Behind the update, which a refusal undoes: Postgres locks a row for a trigger before it, and a lock goes to the WAL.
create trigger refuse_stale_update after update on model_attempts for each row execute function refuse_stale_epoch();
create trigger refuse_stale_update after update on tool_calls for each row execute function refuse_stale_epoch();
create trigger refuse_stale_update after update on compactions for each row execute function refuse_stale_epoch();
create trigger refuse_stale_update after update on compaction_parts for each row execute function refuse_stale_epoch();

create function refuse_turn_of_another() returns trigger language plpgsql as $$
begin
  if not exists (select from turns t where t.id = new.turn_id and t.conversation_id = new.conversation_id) then
    raise exception using errcode = 'foreign_key_violation', message = format(
      'conversation %s has no turn %s, which a row of %s names', new.conversation_id, new.turn_id, tg_table_name);
  end if;
  return null;
end $$;
comment on function refuse_turn_of_another is
  'Trigger: as a foreign key, without locking the turn in each transaction: it goes with all its rows or not at all.';

create trigger refuse_turn_of_another after insert on entries for each row execute function refuse_turn_of_another();
create trigger refuse_turn_of_another after insert on model_attempts for each row
  execute function refuse_turn_of_another();
create trigger refuse_turn_of_another after insert on tool_calls for each row execute function refuse_turn_of_another();

create function append_entry() returns trigger language plpgsql as $$
declare
  conversation conversations := require_epoch(new.conversation_id, new.epoch);
  before measurements := no_measurements();
begin
  if conversation.head_entry_id = new.id then
    -- The writer moved the head itself, to change the conversation's row once.
    new.sequence := conversation.last_sequence;
  elsif new.parent_id is null then
    new.parent_id := conversation.head_entry_id;
  elsif new.parent_id is distinct from conversation.head_entry_id then
    raise exception using errcode = 'HF002', message = format(
      'conversation %s: the head is entry %s, not %s', conversation.id, conversation.head_entry_id, new.parent_id);
  end if;
  if new.sequence is null then
    new.sequence := conversation.last_sequence + 1;
  elsif conversation.head_entry_id is distinct from new.id and new.sequence <> conversation.last_sequence + 1 then
    raise exception using errcode = 'HF004', message = format(
      'conversation %s: the next sequence is %s, not %s', conversation.id, conversation.last_sequence + 1,
      new.sequence);
  end if;
  -- With ON CONFLICT DO NOTHING the insert would be dropped after it was counted here.
  if exists (select from entries e where e.conversation_id = new.conversation_id and e.id = new.id) then
    raise exception using errcode = 'unique_violation', message = format('entry %s exists', new.id);
  end if;
  if new.model_attempt is not null and not exists (
    select from model_attempts m
    where m.conversation_id = new.conversation_id and m.turn_id = new.turn_id and m.call_number = new.call_number
      and m.attempt = new.model_attempt and m.purpose = 'step'
  ) then
    raise exception using errcode = 'foreign_key_violation', message = format(
      'entry %s answers attempt %s of call %s of turn %s, which is not registered', new.id, new.model_attempt,
      new.call_number, new.turn_id);
  end if;
  new.branch := conversation.branch;
  if new.parent_id is not null then
    select (e.sums).* into before from entries e
    where e.id = new.parent_id and e.conversation_id = new.conversation_id;
    if not found then
      raise exception using errcode = 'foreign_key_violation', message = format(
        'conversation %s has no entry %s, which is to be the parent of %s', conversation.id, new.parent_id, new.id);
    end if;
  end if;
  new.sums := new.measurements + before;
  -- The view shows the newest rules only; notes of other slots stay visible until a compaction clears them.
  if new.slot = 'rules' then
    new.sums := new.sums - coalesce((
      select e.measurements
      from entries e
      join branches b on b.conversation_id = e.conversation_id and b.ancestor = e.branch
        and e.sequence <= b.through_sequence
      where e.conversation_id = new.conversation_id and e.kind = 'note' and e.slot = 'rules' and b.branch = new.branch
      order by e.sequence desc limit 1), no_measurements());
  end if;
  -- Here and not in an AFTER trigger, so that several rows of one statement follow each other.
  if conversation.head_entry_id is distinct from new.id then
    update conversations c set last_sequence = new.sequence, head_entry_id = new.id, is_unindexed = true
    where c.id = new.conversation_id;
  end if;
  return new;
end $$;
comment on function append_entry is 'Trigger: fences, numbers and sums up an entry and makes it the head.';

create trigger append_entry before insert on entries for each row execute function append_entry();

create function append_event() returns trigger language plpgsql as $$
declare
  -- Under the lock of the conversation, so that a reader never skips an event that commits late.
  conversation conversations := require_epoch(new.conversation_id, new.epoch);
  next integer := coalesce((select max(e.number) from events e where e.conversation_id = new.conversation_id), 0) + 1;
begin
  if new.number <> next then
    raise exception using errcode = 'HF004', message = format(
      'conversation %s: the next event is %s, not %s', conversation.id, next, new.number);
  end if;
  new.number := next;
  return new;
end $$;
comment on function append_event is 'Trigger: fences and numbers an event.';

create trigger append_event before insert on events for each row execute function append_event();

create function create_first_branch() returns trigger language plpgsql as $$
begin
  insert into branches (conversation_id, branch, ancestor, through_sequence) values (new.id, 0, 0, 2147483647);
  return null;
end $$;
comment on function create_first_branch is 'Trigger: each conversation has branch 0.';

create trigger create_first_branch after insert on conversations for each row execute function create_first_branch();

create function refuse_update() returns trigger language plpgsql as $$
begin
  raise exception using errcode = tg_argv[0], message = format('%s of conversation %s: %s', tg_table_name,
    coalesce(to_jsonb(old) ->> 'conversation_id', to_jsonb(old) ->> 'id'), tg_argv[1]);
end $$;
comment on function refuse_update is 'Trigger: refuses what its condition found, with its code and reason.';

create trigger keep_epoch after update on conversations for each row
  when (new.epoch < old.epoch)
  execute function refuse_update('HF001', 'the epoch never falls');
create trigger keep_outcome after update on turns for each row
  when (old.outcome is not null and (new.outcome, new.run_id, new.ended_at)
    is distinct from (old.outcome, old.run_id, old.ended_at))
  execute function refuse_update('HF001', 'the turn has ended; a writer that goes on was replaced');
create trigger keep_decision after update on decisions for each row
  when (old.state <> 'waiting' and (new.state, new.content::text, new.decided_at, new.decided_by, new.decision_id)
    is distinct from (old.state, old.content::text, old.decided_at, old.decided_by, old.decision_id))
  execute function refuse_update('HF003', 'decisions are final');
create trigger keep_result after update on tool_calls for each row
  when (new.attempt < old.attempt or (old.state = 'finished'
    and (new.state, new.attempt, new.outcome, new.result_entry_id, new.finished_at, new.fingerprint)
    is distinct from
    (old.state, old.attempt, old.outcome, old.result_entry_id, old.finished_at, old.fingerprint)))
  execute function refuse_update('HF005', 'a result is final, and attempts never fall');
create trigger keep_text after update on compaction_parts for each row
  when (old.state = 'written')
  execute function refuse_update('HF005', 'a written text stays');
create trigger keep_ended after update on model_attempts for each row
  when (old.ended_at is not null and new.state is distinct from old.state)
  execute function refuse_update('HF005', 'an attempt ends once');
create trigger keep_finished after update on compactions for each row
  when (old.status <> 'planned')
  execute function refuse_update('HF003', 'a finished compaction never changes');
create trigger keep_consumed after update on messages for each row
  when (old.consumed_at is not null and (new.turn_id, new.consumed_at) is distinct from (old.turn_id, old.consumed_at))
  execute function refuse_update('HF003', 'a message is taken once');
create trigger keep_whole after update on contents for each row
  when (old.bytes is not null)
  execute function refuse_update('HF003', 'a whole content never changes');

create function refuse_split_group() returns trigger language plpgsql as $$
declare
  answer entries;
begin
  if new.first_kept_sequence is null then return new; end if;
  select e.* into answer
  from entries e
  join branches b on b.conversation_id = e.conversation_id and b.ancestor = e.branch
    and e.sequence <= b.through_sequence
  join conversations c on c.id = e.conversation_id and c.branch = b.branch
  where e.conversation_id = new.conversation_id and e.kind = 'assistant' and e.sequence < new.first_kept_sequence
  order by e.sequence desc limit 1;
  if found and exists (
    select from entries r
    where r.conversation_id = new.conversation_id and r.turn_id = answer.turn_id and r.call_number = answer.call_number
      and r.kind = 'tool_result' and r.sequence >= new.first_kept_sequence
  ) then
    raise exception using errcode = 'HF006', message = format(
      'compaction %s keeps entries from %s on, a tool result among them whose call %s would be dropped',
      new.id, new.first_kept_sequence, answer.sequence);
  end if;
  return new;
end $$;
comment on function refuse_split_group is 'Trigger: an answer and its tool results stay together (HF006).';

create trigger refuse_split_group before insert or update of first_kept_sequence on compactions for each row
  execute function refuse_split_group();

create function leave_out_missing_source() returns trigger language plpgsql as $$
begin
  if not exists (select from entries e where e.id = new.source_id and e.conversation_id = new.conversation_id)
    and not exists (select from compactions c where c.id = new.source_id and c.conversation_id = new.conversation_id)
  then
    new.source_id := null;
  end if;
  return new;
end $$;
comment on function leave_out_missing_source is 'Trigger: a memory names only a source that its conversation has.';

create trigger leave_out_missing_source before insert or update of source_id, conversation_id on memories for each row
  when (new.source_id is not null)
  execute function leave_out_missing_source();

-- A trigger says what its function says; one that refuses updates, why.
do $$
declare
  bare record;
begin
  for bare in
    select t.tgname, t.tgrelid::regclass as name, case p.proname
      when 'refuse_update' then format('Refuses an update: %s.', split_part(encode(t.tgargs, 'escape'), '\000', 2))
      else obj_description(p.oid, 'pg_proc') end as meaning
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
    where c.relnamespace = 'holdfast'::regnamespace and not t.tgisinternal and t.tgparentid = 0
  loop
    execute format('comment on trigger %I on %s is %L', bare.tgname, bare.name, bare.meaning);
  end loop;
end $$;

create function delete_conversation(conversation uuid) returns table (workflow_id text, run_id text)
language plpgsql security definer set search_path = holdfast, pg_temp as $$
#variable_conflict use_column
declare
  found_row conversations;
  runs jsonb;
  snapshots bytea[];
begin
  select * into found_row from conversations c
  where c.id = conversation
    -- Who may act for a tenant alone deletes what is the tenant's.
    and (c.tenant = current_setting('holdfast.tenant', true)
      or not exists (select from pg_roles api where api.rolname = 'holdfast_api'
        and (current_setting('role') = 'holdfast_api' or pg_has_role(session_user, api.oid, 'member')))
      or (current_setting('role') <> 'holdfast_api' and exists (select from pg_roles app
        where app.rolname = 'holdfast_app' and pg_has_role(session_user, app.oid, 'member'))))
  for update;
  if not found then return; end if;
  if found_row.active_turn_id is not null then
    raise exception using errcode = 'HF007', message = format(
      'conversation %s has an open turn: stop it, then delete', conversation);
  end if;
  select coalesce(jsonb_agg(distinct jsonb_build_object('workflow', t.workflow_id, 'run', each_run)), '[]')
  into runs
  from turns t cross join lateral unnest(array[t.begun_by_run_id, t.run_id]) as each_run
  where t.conversation_id = conversation;
  snapshots := array(select distinct t.snapshot_hash from turns t where t.conversation_id = conversation);
  -- One statement, because these tables refer to each other in circles.
  with ids as (
    select array(select t.id from turns t where t.conversation_id = conversation) as turns,
      array(select c.id from compactions c where c.conversation_id = conversation) as compactions,
      array(select o.id from contents o where o.conversation_id = conversation) as contents
  -- What they superseded goes with them.
  ), of_memories as (delete from memories where conversation_id = conversation
  ), of_pieces as (delete from content_pieces p using ids where p.content_id = any(ids.contents)
  ), of_contents as (delete from contents o using ids where o.id = any(ids.contents)
  ), of_decisions as (delete from decisions d using ids where d.turn_id = any(ids.turns)
  ), of_tool_calls as (
    delete from tool_calls k using ids where k.conversation_id = conversation and k.turn_id = any(ids.turns)
  ), of_model_attempts as (
    delete from model_attempts k using ids where k.conversation_id = conversation and k.turn_id = any(ids.turns)
  ), of_branch_summaries as (delete from branch_summaries where conversation_id = conversation
  ), of_operations as (delete from compaction_operations o using ids where o.compaction_id = any(ids.compactions)
  ), of_parts as (delete from compaction_parts p using ids where p.compaction_id = any(ids.compactions)
  ), of_compactions as (delete from compactions where conversation_id = conversation
  ), of_messages as (delete from messages where conversation_id = conversation
  ), of_entries as (delete from entries where conversation_id = conversation
  ), of_outlines as (delete from packed_outlines where conversation_id = conversation
  ), of_events as (delete from events where conversation_id = conversation
  ), of_deliveries as (delete from webhook_deliveries where conversation_id = conversation
  ), of_turns as (delete from turns where conversation_id = conversation
  ), of_branches as (delete from branches where conversation_id = conversation
  )
  delete from provider_calls where conversation_id = conversation;
  -- Behind what takes long, because indexing of the agent waits for the locks on its terms.
  perform forget_passages(conversation);
  delete from conversations where id = conversation;
  -- Locked first, so that the deletion sees a turn that begins meanwhile.
  perform from agent_snapshots s
  where s.hash = any(snapshots) and not exists (select from turns t where t.snapshot_hash = s.hash)
  order by s.hash for update;
  delete from agent_snapshots s
  where s.hash = any(snapshots) and not exists (select from turns t where t.snapshot_hash = s.hash);
  return query select each ->> 'workflow', each ->> 'run' from jsonb_array_elements(runs) as each;
end $$;
comment on function delete_conversation is
  'Deletes all rows of an idle conversation (HF007 while a turn is open); returns runs that Temporal may still keep.';

revoke all on function delete_conversation from public;

create function keep_snapshot(content_hash bytea, agent json, measured measurements) returns void
language plpgsql security definer set search_path = holdfast, pg_temp as $$
begin
  -- The lock keeps a row that is there from being deleted with its last turn.
  insert into agent_snapshots (hash, content, fixed) values (content_hash, agent, measured)
  on conflict (hash) do update set hash = excluded.hash;
end $$;
comment on function keep_snapshot is
  'Stores an agent as a turn begins with it. Tenants share such rows, and none sees one of which it has no turn.';

revoke all on function keep_snapshot from public;

create function delete_old_timeline(conversation uuid, days integer) returns void
language plpgsql security definer set search_path = holdfast, pg_temp as $$
declare
  before timestamptz := holdfast_now() - make_interval(days => days);
  kept_from integer;
begin
  if days < 1 then
    raise exception using errcode = 'invalid_parameter_value', message = 'timelines are kept for a day at least';
  end if;
  perform from conversations c where c.id = conversation for no key update;
  -- The newest turn with an answer tells the next one how large the view is, and how long the conversation rested.
  kept_from := coalesce(least(
    (select min(t.epoch) from turns t
     where t.conversation_id = conversation and (t.ended_at is null or t.ended_at >= before)),
    (select max(t.epoch) from turns t where t.conversation_id = conversation
       and exists (
         select from model_attempts m
         where m.conversation_id = conversation and m.turn_id = t.id and m.entry_id is not null))),
    (select max(t.epoch) from turns t where t.conversation_id = conversation));
  -- Summaries name what they cost, and a turn what its provider said at last.
  delete from model_attempts m using turns t
  where t.conversation_id = conversation and t.epoch < kept_from
    and m.conversation_id = conversation and m.turn_id = t.id and m.purpose = 'step' and m.failure_message is null;
  -- The count of redactions is shown.
  delete from events e
  where e.conversation_id = conversation and e.kind <> 'secrets_redacted' and e.number < (
    select min(k.number) from events k join turns t on t.id = k.turn_id
    where k.conversation_id = conversation and t.epoch >= kept_from);
  -- The id of a message that became an entry makes sending it again harmless, and raises count for the conversation's limits.
  delete from messages m using turns t
  where m.conversation_id = conversation and t.conversation_id = conversation and t.epoch < kept_from
    and m.turn_id = t.id and m.kind <> 'resume'
    and not exists (select from entries e where e.conversation_id = m.conversation_id and e.message_id = m.id)
    and not exists (select from messages f where f.conversation_id = m.conversation_id and f.follows_id = m.id);
  update turns t set is_timeline_deleted = true
  where t.conversation_id = conversation and t.epoch < kept_from and not t.is_timeline_deleted;
  update conversations c set timeline_since = (
    select min(t.ended_at) from turns t where t.conversation_id = conversation and t.ended_at >= before)
  where c.id = conversation;
end $$;
comment on function delete_old_timeline is
  'Deletes events, tries of steps and commands of turns that ended days ago, but for the newest with an answer.';

revoke all on function delete_old_timeline from public;

create function tenant_in_force() returns text language sql stable
return nullif(current_setting('holdfast.tenant', true), '');
comment on function tenant_in_force is 'The tenant that a server has set for its connection; null: none.';

create function acts_for_tenant() returns boolean language sql stable
return exists (
  select from pg_roles me join pg_roles api on api.rolname = 'holdfast_api'
  where me.rolname = current_user and not (me.rolsuper or me.rolbypassrls) and pg_has_role(me.oid, api.oid, 'usage'));
comment on function acts_for_tenant is 'Whether the policies of tenants hold for the current role.';

-- Operators of text search are not leakproof: behind a policy Postgres would compare them with all rows, by no index.
-- These views read as their owner, so the indexes serve a tenant too, and say themselves which rows are the tenant's.

create view searched_passages as
select
  p.id, -- In order of indexing.
  p.conversation_id, -- The conversation.
  p.kind, -- Kind of the entry, or summary.
  p.text, -- The passage.
  p.terms, -- What it is found by.
  p.words, -- Words in it.
  p.place, -- Its number in the talk of user and agent; null: a tool, a note or a summary.
  p.is_question, -- It ends with a question mark.
  p.said_at -- When it was said.
from passages p
where not (select acts_for_tenant())
  -- Not "exists": Postgres would read all conversations of the tenant once for it.
  or (select c.tenant from conversations c where c.id = p.conversation_id) = tenant_in_force();
comment on view searched_passages is 'The passages that a search by words compares.';

create view searched_terms as
select
  f.tenant, -- As in conversations.
  f.agent, -- As in conversations.
  f.term, -- As in passages.terms.
  f.passages -- Passages that have it.
from term_frequencies f
where not (select acts_for_tenant()) or f.tenant = tenant_in_force();
comment on view searched_terms is 'The terms among which a search looks for similar words.';

create function grant_rights() returns void language plpgsql as $$
declare
  changing record;
begin
  -- Where roles cannot be created, one login owns and does everything (docs/database.md).
  if not exists (select from pg_roles where rolname = 'holdfast_app') then return; end if;
  grant usage on schema holdfast to holdfast_app;
  grant execute on function delete_conversation, delete_old_timeline, keep_snapshot to holdfast_app;
  -- Not on what others created in the schema.
  execute (
    select format('grant select on %s to holdfast_app', string_agg(c.oid::regclass::text, ', '))
    from pg_class c
    where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p', 'v')
      and pg_has_role(c.relowner, 'usage'));
  -- Never changed, never deleted but with their conversation.
  grant insert on branches, content_pieces, entries, events, packed_outlines, branch_summaries, compaction_operations
    to holdfast_app;
  -- They have a state. Whose a row is, and what a model asked for, stays as it was written.
  for changing in
    select a.attrelid::regclass as name, string_agg(quote_ident(a.attname), ', ') as columns
    from pg_attribute a
    where a.attrelid in ('conversations'::regclass, 'turns'::regclass, 'decisions'::regclass,
        'model_attempts'::regclass, 'tool_calls'::regclass, 'compactions'::regclass, 'compaction_parts'::regclass)
      and a.attnum > 0 and a.attgenerated = '' and not a.attname = any (array['id', 'conversation_id', 'tenant',
        'start_key', 'turn_id', 'snapshot_hash', 'call_number', 'call_index', 'arguments'])
    group by 1
  loop
    execute format('grant insert, update (%s) on %s to holdfast_app', changing.columns, changing.name);
  end loop;
  grant insert, update (revoked_at, last_used_at) on api_keys to holdfast_app;
  grant update on deployment to holdfast_app;
  -- A lock takes the right to update; what a turn refers to keeps its hash.
  grant update (hash) on agent_snapshots to holdfast_app;
  grant insert, update (bytes, missing_bytes, characters) on contents to holdfast_app;
  grant insert, update (turn_id, consumed_at, follows_id, conversation_raise) on messages
    to holdfast_app;
  -- Forgotten, learned anew, or indexed again.
  grant insert, update, delete on memories, standing_decisions, passages, search_progress, term_frequencies,
    provider_calls, provider_pauses, model_facts, workers, webhooks, webhook_deliveries to holdfast_app;
  if to_regclass('embeddings') is not null then
    grant insert, update, delete on embeddings, embedding_models, unembedded to holdfast_app;
  end if;
end $$;
comment on function grant_rights is
  'What the application may: each `holdfast db migrate` calls it, for roles created since.';

-- What a server with keys reads and writes, it does as holdfast_api.

create function condition_of_tenant(relation regclass) returns text language sql stable as $$
select case
  when relation = 'model_facts'::regclass then 'tenant in ('''', tenant_in_force())'
  when exists (select from pg_attribute where attrelid = relation and attname = 'tenant' and not attisdropped)
    then 'tenant = tenant_in_force()'
  when relation = 'content_pieces'::regclass
    then 'exists (select from contents o where o.id = content_pieces.content_id)'
  when relation = 'agent_snapshots'::regclass
    then 'exists (select from turns t where t.snapshot_hash = agent_snapshots.hash)'
  when exists (select from pg_attribute where attrelid = relation and attname = 'conversation_id' and not attisdropped)
    then format('exists (select from conversations c where c.id = %s.conversation_id)', relation)
  -- Of everybody. A table of which nothing here says whose it is cannot be isolated: its policy would have no condition.
  else (select 'true' from pg_class where oid = relation
    and relname in ('deployment', 'provider_pauses', 'embedding_models', 'migrations')) end $$;
comment on function condition_of_tenant is
  'Which rows a tenant sees: its conversations, and what belongs to one that it sees.';

create function isolate_tenants() returns void language plpgsql as $$
declare
  found_relation record;
  granted record;
begin
  -- Views show what their reader may see since Postgres 15.
  if current_setting('server_version_num')::integer < 150000
    or (select count(*) from pg_roles where rolname in ('holdfast_app', 'holdfast_api')) < 2 then return; end if;
  grant usage on schema holdfast to holdfast_api;
  grant execute on function delete_conversation, keep_snapshot to holdfast_api;
  for found_relation in
    select c.oid::regclass as name, c.oid, c.relkind, c.relrowsecurity, c.relacl, coalesce(
        c.reloptions @> array['security_invoker=true'], false) as is_readers
    from pg_class c
    where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
      and c.relname not in ('api_keys', 'workers') and pg_has_role(c.relowner, 'usage')
  loop
    if found_relation.relkind = 'v' then
      if not found_relation.is_readers
        and found_relation.name not in ('searched_passages'::regclass, 'searched_terms'::regclass) then
        execute format('alter view %s set (security_invoker = true)', found_relation.name);
      end if;
    else
      if not found_relation.relrowsecurity then
        execute format('alter table %s enable row level security, force row level security', found_relation.name);
        execute format('create policy everybody on %s using (true) with check (true)', found_relation.name);
      end if;
      if not exists (select from pg_policy p where p.polrelid = found_relation.oid and p.polname = 'tenant') then
        execute format('create policy tenant on %s as restrictive %s to holdfast_api using (%s)', found_relation.name,
          case found_relation.name when 'agent_snapshots'::regclass then 'for select' else '' end,
          condition_of_tenant(found_relation.name));
      end if;
    end if;
    -- The rights of the application, for those rows.
    for granted in
      select privilege_type as privilege, '' as columns from aclexplode(found_relation.relacl)
      where grantee = 'holdfast_app'::regrole
      union all
      select x.privilege_type, format('(%s)', string_agg(quote_ident(a.attname), ', '))
      from pg_attribute a cross join aclexplode(a.attacl) x
      where a.attrelid = found_relation.oid and x.grantee = 'holdfast_app'::regrole group by 1
    loop
      execute format('grant %s %s on %s to holdfast_api', granted.privilege, granted.columns, found_relation.name);
    end loop;
  end loop;
end $$;
comment on function isolate_tenants is
  'What `holdfast_api` may see and do: `holdfast db migrate --tenants` calls it, and each later migrate again.';
