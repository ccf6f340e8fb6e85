-- Conversations, what is sent to them, their turns and their branches, and what people decide.

-- What each step changes stands together: an update writes the stretch from its first change to its last to the WAL.
create table conversations (
  id uuid primary key,
  tenant text not null default 'default' check (tenant <> ''),
  start_key text check (length(start_key) between 1 and 200),
  task_queue text not null default 'agent-turn',
  agent text not null check (agent <> ''),
  model text,
  preset text,
  workspace text,
  created_at timestamptz not null default holdfast_now(),
  active_at timestamptz not null default holdfast_now(),
  epoch integer not null default 0 check (epoch >= 0),
  active_turn_id uuid,
  branch integer not null default 0 check (branch >= 0),
  compactions integer not null default 0 check (compactions >= 0),
  compaction_id uuid,
  view_offset measurements not null default no_measurements() check (view_offset is not null),
  compactions_over integer not null default 0,
  worked_seconds double precision not null default 0,
  imported_at timestamptz,
  user_name text check (user_name <> ''),
  imported_through integer check (imported_through > 0),
  failures jsonb not null default '{}'::jsonb,
  head_entry_id uuid,
  last_sequence integer not null default 0 check (last_sequence >= 0),
  usage_entry_id uuid,
  model_calls integer not null default 0,
  input_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost numeric not null default 0,
  calls_of_unknown_cost integer not null default 0,
  steps integer not null default 0,
  tool_calls integer not null default 0,
  is_unindexed boolean not null default false,
  unique (tenant, start_key),
  check ((compactions_over >= 0) and (compactions_over <= compactions))
) with (fillfactor = 70);
create index conversations_by_activity on conversations (tenant, active_at desc, id desc);
create index conversations_by_agent on conversations (tenant, agent, active_at desc, id desc);
create index conversations_idle on conversations (task_queue, active_at) where active_turn_id is null;
create index conversations_unindexed on conversations (agent) where is_unindexed;
comment on table conversations
  is 'A conversation between a user and an agent: who may write to it, and where it stands.';
comment on column conversations.id is 'UUIDv7, made by Holdfast.';
comment on column conversations.tenant is 'Whose it is; nothing of one tenant is found by another.';
comment on column conversations.start_key is 'Chosen by the sender: starting twice is starting once. Null: not given.';
comment on column conversations.task_queue
  is 'Temporal task queue of the workers that take its turns: that of the last sender.';
comment on column conversations.agent is 'Name of the agent in the configuration.';
comment on column conversations.model is 'provider/model in place of the agent''s, or null.';
comment on column conversations.preset is 'Compaction preset in place of the agent''s, or null.';
comment on column conversations.workspace is 'Absolute path in place of the agent''s workspace, or null.';
comment on column conversations.created_at is 'When the first message arrived, or of an import its first entry.';
comment on column conversations.active_at is 'Newest message, begin or end of a turn.';
comment on column conversations.epoch is 'Fencing number: each turn raises it, and writes of an older one are refused.';
comment on column conversations.active_turn_id is 'The open turn; null while idle.';
comment on column conversations.branch is 'The branch that is active; see table branches.';
comment on column conversations.head_entry_id is 'Newest entry of the active branch; the next entry becomes its child.';
comment on column conversations.last_sequence is 'Sequence of the newest entry of any branch.';
comment on column conversations.compactions is 'Compactions that were committed.';
comment on column conversations.compaction_id is 'The newest committed compaction; null before the first.';
comment on column conversations.view_offset is 'Added to the sums at the head, it measures the current view.';
comment on column conversations.usage_entry_id is 'Newest answer with reported usage since the last compaction.';
comment on column conversations.model_calls is 'Calls of models that were paid, summaries and repeated calls included.';
comment on column conversations.input_tokens is 'Input tokens of all these calls, cached ones included.';
comment on column conversations.cache_read_tokens is 'Of them, read from the provider''s cache.';
comment on column conversations.cache_write_tokens is 'Of them, written to the provider''s cache.';
comment on column conversations.output_tokens is 'Output tokens of all these calls.';
comment on column conversations.cost is 'Dollars, over the calls whose price is known.';
comment on column conversations.calls_of_unknown_cost is 'Calls whose price is unknown: unless 0, the cost is unknown.';
comment on column conversations.compactions_over
  is 'Compactions up to this number no longer count: their turns are over.';
comment on column conversations.steps is 'Model calls of the agent that were answered, over all turns.';
comment on column conversations.tool_calls is 'Tool calls of all turns, without those that a turn''s end prevented.';
comment on column conversations.worked_seconds is 'Seconds that ended turns took, without waits for people.';
comment on column conversations.imported_at is 'When it was imported; null for one that began here.';
comment on column conversations.user_name
  is 'Whose memories of scope user it reads and writes; null: the agent''s own user.';
comment on column conversations.imported_through
  is 'Sequence of the newest imported entry; null for one that began here.';
comment on column conversations.failures
  is 'Counted failures of activities since the newest turn began or ended: {"run id activity id": count}.';
comment on column conversations.is_unindexed is 'The search index may lack something of it.';

create table agent_snapshots (
  hash bytea primary key,
  content json not null,
  fixed measurements not null check (fixed is not null)
);
comment on table agent_snapshots is 'Agents as turns began with them: shared by content, deleted with the last turn.';
comment on column agent_snapshots.hash is 'SHA-256 of content and fixed.';
comment on column agent_snapshots.content is 'The agent''s configuration, frozen: any view can be rebuilt from it.';
comment on column agent_snapshots.fixed is 'Measurements of instructions and tool schemas, which no entry holds.';

create table turns (
  id uuid primary key,
  conversation_id uuid not null references conversations deferrable,
  epoch integer not null,
  workflow_id text not null,
  begun_by_run_id text not null,
  run_id text not null,
  worker_identity text not null,
  agent text not null,
  model text not null,
  preset text not null,
  snapshot_hash bytea not null references agent_snapshots,
  model_limits json,
  command_only boolean not null default false,
  messages integer not null default 0,
  begun_at timestamptz not null default holdfast_now(),
  ended_at timestamptz,
  outcome text check (outcome in ('completed', 'stopped', 'budget_exhausted', 'context_exhausted', 'model_failed',
    'refused', 'interrupted')),
  reason text,
  breakdown json,
  model_calls integer not null default 0,
  input_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost numeric not null default 0,
  calls_of_unknown_cost integer not null default 0,
  compactions_over integer not null default 0,
  limits json,
  fallbacks jsonb not null default '[]'::jsonb,
  looked_at timestamptz,
  steps integer not null default 0,
  tool_calls integer not null default 0,
  timeline text not null default 'whole' check (timeline in ('whole', 'last', 'deleted')),
  begin_scheduled_at timestamptz,
  unique (conversation_id, epoch),
  unique (conversation_id, id),
  check ((outcome is null) = (ended_at is null))
);
create unique index turns_by_run on turns (workflow_id, begun_by_run_id);
create unique index turns_open on turns (conversation_id) where outcome is null;
create index turns_by_snapshot on turns (snapshot_hash);
create index turns_by_timeline on turns (timeline, ended_at) where ended_at is not null;
comment on table turns
  is 'From user messages to an outcome. At most one is open per conversation; what it uses is in view turn_usage.';
comment on column turns.id is 'UUIDv7, made by the activity that began the turn.';
comment on column turns.conversation_id is 'The conversation that the turn works on.';
comment on column turns.epoch is 'The epoch that the turn took; its right to write.';
comment on column turns.workflow_id is 'Temporal workflow that works on it.';
comment on column turns.begun_by_run_id is 'Temporal run that began it; a repeated begin finds this turn.';
comment on column turns.run_id is 'Temporal run that works on it now; changes when the turn continues as new.';
comment on column turns.worker_identity is 'Worker that began or continued it.';
comment on column turns.agent is 'Name of the agent.';
comment on column turns.model is 'provider/model in force: the agent''s own, or a fallback.';
comment on column turns.preset is 'Name of the compaction policy.';
comment on column turns.snapshot_hash is 'The agent as the turn began with it.';
comment on column turns.model_limits
  is 'Limits of the model in force once an error named smaller ones than the snapshot.';
comment on column turns.command_only is 'A command for an idle conversation: a turn with no step.';
comment on column turns.messages is 'Messages taken when it began.';
comment on column turns.begun_at is 'When it took the conversation.';
comment on column turns.ended_at is 'When it ended; null while open.';
comment on column turns.outcome is 'How it ended; null while open.';
comment on column turns.reason is 'Code of what led to the outcome.';
comment on column turns.breakdown is 'What filled the window, in tokens, for context_exhausted.';
comment on column turns.model_calls
  is 'As in turn_usage; while open, as all these sums, less what the conversation had used when it began.';
comment on column turns.input_tokens is 'As in turn_usage.';
comment on column turns.cache_read_tokens is 'As in turn_usage.';
comment on column turns.cache_write_tokens is 'As in turn_usage.';
comment on column turns.output_tokens is 'As in turn_usage.';
comment on column turns.cost is 'As in turn_usage.';
comment on column turns.calls_of_unknown_cost is 'As in turn_usage.';
comment on column turns.compactions_over is 'conversations.compactions_over in this turn, for rebuilding views.';
comment on column turns.limits is 'What the turn may use (src/turn/spending.ts); null: only its steps are limited.';
comment on column turns.fallbacks is 'Models that were given up, oldest first: {model, callNumber, reason}.';
comment on column turns.looked_at is 'When upkeep last asked Temporal whether its workflow is open; null: never.';
comment on column turns.steps is 'As in turn_usage.';
comment on column turns.tool_calls is 'As in turn_usage.';
comment on column turns.timeline
  is 'last: kept by retention, as the newest. deleted: events and tries of steps are gone.';
comment on column turns.begin_scheduled_at is 'When Temporal scheduled the activity that began it; null when imported.';

create function model_in_force(turn turns) returns json language sql stable
return (
  select case when turn.fallbacks = '[]' then s.content
    else s.content -> 'fallbacks' -> jsonb_array_length(turn.fallbacks) - 1 end
  from agent_snapshots s where s.hash = turn.snapshot_hash);
comment on function model_in_force
  is 'The snapshot''s model, or the fallback that took over: policy, modelLimits, prices.';

create table messages (
  conversation_id uuid not null references conversations deferrable,
  id text not null check ((length(id) >= 1) and (length(id) <= 200)),
  position bigint not null generated always as identity,
  kind text not null check (kind in ('message', 'stop', 'compact', 'resume', 'fork', 'switch')),
  mode text not null check (mode in ('steer', 'queue')),
  content json not null,
  focus json,
  measurements measurements not null check (measurements is not null),
  created_at timestamptz not null default holdfast_now(),
  turn_id uuid,
  consumed_at timestamptz,
  raise json,
  target_entry_id uuid,
  target_branch integer,
  summarizes boolean,
  follows_id text,
  rung_at timestamptz,
  rings integer not null default 0 check (rings >= 0),
  conversation_raise json,
  sent_epoch integer check (sent_epoch >= 0),
  primary key (conversation_id, id),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id) deferrable,
  foreign key (conversation_id, follows_id) references messages deferrable initially deferred,
  check (((target_entry_id is null) or (kind = 'fork')) and ((kind = 'switch') = (target_branch is not null))
    and ((kind in ('fork', 'switch')) = (summarizes is not null))),
  check ((focus is null) or (kind = 'compact')),
  check ((turn_id is null) or (consumed_at is not null)),
  check ((raise is null) or (kind = 'resume')),
  check ((follows_id is null) or (kind = 'message')),
  check ((conversation_raise is null) or (raise is not null))
);
create index messages_by_conversation on messages (conversation_id, "position");
create index messages_following on messages (conversation_id, follows_id) where follows_id is not null;
create index messages_by_turn on messages (turn_id) where turn_id is not null;
create index messages_by_target on messages (conversation_id, target_entry_id) where target_entry_id is not null;
create index messages_raises on messages (conversation_id) where raise is not null;
create index messages_waiting on messages (conversation_id, "position") where consumed_at is null;
comment on table messages is 'What users sent, commands included: written before anything else, taken exactly once.';
comment on column messages.conversation_id is 'Where it was sent.';
comment on column messages.id is 'Chosen by the sender: sending twice is sending once.';
comment on column messages.position is 'Order of arrival.';
comment on column messages.kind is 'message: text for the agent. All others are commands to Holdfast.';
comment on column messages.mode is 'steer: enters at the next step. queue: starts the next turn.';
comment on column messages.content is 'Content parts, as in src/context/log/content.ts.';
comment on column messages.focus is 'compact only: what the summary should dwell on, a JSON string.';
comment on column messages.measurements is 'Counted when it was sent.';
comment on column messages.created_at is 'When it arrived; of an imported session, when it was recorded.';
comment on column messages.turn_id is 'The turn that took it; null while it waits, or when no turn was there.';
comment on column messages.consumed_at is 'When it was taken or served; null while it waits.';
comment on column messages.raise is 'resume only: by how much limits are raised (src/turn/spending.ts).';
comment on column messages.target_entry_id is 'fork only: the entry before the new branch; null: before the first.';
comment on column messages.target_branch is 'switch only: the branch to go on with.';
comment on column messages.summarizes is 'fork and switch: whether what is left behind is summarized.';
comment on column messages.follows_id is 'The fork that must succeed before it is answered.';
comment on column messages.rung_at is 'When a doorbell for it last rang; null: never noted.';
comment on column messages.rings is 'How many rings for it were noted.';
comment on column messages.conversation_raise is 'Part of the raise that counts for the conversation''s limits.';
comment on column messages.sent_epoch is 'Epoch of the conversation when it arrived; null when imported.';

create table branches (
  conversation_id uuid not null references conversations deferrable,
  branch integer not null,
  ancestor integer not null,
  through_sequence integer not null,
  primary key (conversation_id, branch, ancestor)
);
comment on table branches is 'The entry tree, flat: a path is read by ranges of sequence, without recursion.';
comment on column branches.conversation_id is 'The conversation.';
comment on column branches.branch is 'Number of the branch whose path is described; 0 is the first.';
comment on column branches.ancestor is 'A branch on that path, itself included.';
comment on column branches.through_sequence is 'Last sequence of the ancestor on the path.';

create table decisions (
  turn_id uuid not null,
  call_number integer not null,
  call_index integer not null,
  conversation_id uuid not null,
  epoch integer not null,
  kind text not null check (kind in ('approval', 'question')),
  agent text not null,
  tool text not null,
  state text not null default 'waiting'
    check (state in ('waiting', 'approved', 'denied', 'answered', 'expired', 'withdrawn')),
  scope text,
  content json,
  decision_id text check ((length(decision_id) >= 1) and (length(decision_id) <= 200)),
  requested_at timestamptz not null default holdfast_now(),
  expires_at timestamptz not null,
  decided_at timestamptz,
  rung_at timestamptz,
  rings integer not null default 0 check (rings >= 0),
  rules text[] not null check (cardinality(rules) > 0),
  primary key (turn_id, call_number, call_index),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id) deferrable,
  check ((state = 'waiting') = (decided_at is null)),
  check ((state in ('approved', 'denied', 'answered')) = (scope is not null)),
  check ((state <> 'answered') or ((kind = 'question') and (content is not null))),
  check ((state not in ('approved', 'denied')) or (kind = 'approval')),
  check (scope in ('call', 'turn', 'agent'))
);
create index decisions_waiting on decisions (conversation_id) where state = 'waiting';
create unique index decisions_once on decisions (conversation_id, decision_id) where decision_id is not null;
comment on table decisions
  is 'Tool calls that wait, or waited, for a person; the call runs only after its row says so.';
comment on column decisions.turn_id is 'The turn.';
comment on column decisions.call_number is 'The model call that asked for the tool.';
comment on column decisions.call_index is 'Position among the calls of the answer, from 0.';
comment on column decisions.conversation_id is 'The conversation.';
comment on column decisions.epoch is 'Epoch of the writer that asked.';
comment on column decisions.kind is 'approval: may the tool run? question: what does the user answer?';
comment on column decisions.agent is 'Name of the agent: what a decision for all its turns is found by.';
comment on column decisions.tool is 'The tool.';
comment on column decisions.state is 'withdrawn: the turn ended before a person decided.';
comment on column decisions.scope is 'How far it reaches: this call, the turn, or all turns of the agent.';
comment on column decisions.content is 'The reason of a denial or the answer to the question, a JSON string.';
comment on column decisions.decision_id is 'Chosen by who decides: sending twice is sending once.';
comment on column decisions.requested_at is 'When the turn began to wait for it.';
comment on column decisions.expires_at is 'When it counts as denied or not answered.';
comment on column decisions.decided_at is 'When it was decided, by whomever; null while it waits.';
comment on column decisions.rung_at is 'When upkeep last rang because of what was decided; null: never.';
comment on column decisions.rings is 'How often upkeep rang because of it.';
comment on column decisions.rules is 'All rules that made the call ask; each needs an approval.';

create table standing_decisions (
  tenant text not null,
  agent text not null,
  rule text not null,
  state text not null check (state in ('approved', 'denied')),
  decided_at timestamptz not null,
  turn_id uuid not null,
  call_number integer not null,
  call_index integer not null,
  primary key (tenant, agent, rule)
);
comment on table standing_decisions is 'What a person said to all calls of an agent under a rule, until it is ended.';
comment on column standing_decisions.tenant is 'Whose conversations it holds for.';
comment on column standing_decisions.agent is 'Name of the agent.';
comment on column standing_decisions.rule is 'The rule of the configuration, or the tool''s own.';
comment on column standing_decisions.state is 'What the calls get: approved or denied.';
comment on column standing_decisions.decided_at is 'When it was decided; the newest decision counts.';
comment on column standing_decisions.turn_id is 'The turn in which it was decided; it may be deleted since.';
comment on column standing_decisions.call_number is 'The model call that asked for the tool on which it was decided.';
comment on column standing_decisions.call_index is 'Position of that call in the answer.';

alter table conversations add foreign key (id, active_turn_id)
  references turns (conversation_id, id) deferrable initially deferred;
