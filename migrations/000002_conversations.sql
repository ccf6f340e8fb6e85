-- Conversations, what is sent to them, their turns and their branches, and what people decide.

-- What each step changes stands together: an update writes the stretch from its first change to its last to the WAL.
create table conversations (
  id uuid primary key, -- UUIDv7, made by Holdfast.
  -- Whose it is; nothing of one tenant is found by another.
  tenant text not null check (tenant <> ''),
  -- Chosen by the sender: starting twice is starting once. Null: not given.
  start_key text check (length(start_key) between 1 and 200),
  -- Temporal task queue of the workers that take its turns: that of the last sender.
  task_queue text not null check (task_queue <> ''),
  agent text not null check (agent <> ''), -- Name of the agent in the configuration.
  model text, -- provider/model in place of the agent's, or null.
  preset text, -- Compaction preset in place of the agent's, or null.
  workspace text, -- Absolute path in place of the agent's workspace, or null.
  -- When the first message arrived, or of an import its first entry.
  created_at timestamptz not null default holdfast_now(),
  active_at timestamptz not null default holdfast_now(), -- Newest message, begin or end of a turn.
  -- Fencing number: each turn raises it, and writes of an older one are refused.
  epoch integer not null default 0 check (epoch >= 0),
  active_turn_id uuid, -- The open turn; null while idle.
  branch integer not null default 0 check (branch >= 0), -- The branch that is active; see table branches.
  compactions integer not null default 0 check (compactions >= 0), -- Compactions that were committed.
  compaction_id uuid, -- The newest committed compaction; null before the first.
  -- Added to the sums at the head, it measures the current view.
  view_offset measurements not null default no_measurements() check (view_offset is not null),
  compactions_over integer not null default 0, -- Compactions up to this number no longer count: their turns are over.
  worked_seconds double precision not null default 0, -- Seconds that ended turns took, without waits for people.
  rung_at timestamptz, -- When upkeep last rang for a row that waits in it; null: never.
  rings integer not null default 0 check (rings >= 0), -- How often it did since a turn last began or ended.
  imported_at timestamptz, -- When it was imported; null for one that began here.
  -- Whose memories of scope user it reads and writes; null: the agent's own user.
  user_name text check (user_name <> ''),
  -- Sequence of the newest imported entry; null for one that began here.
  imported_through integer check (imported_through > 0),
  timeline_since timestamptz, -- End of the oldest turn whose timeline retention has not looked at; null: none.
  -- Counted failures of activities since the newest turn began or ended: {"run id activity id": count}.
  failures jsonb not null default '{}'::jsonb,
  head_entry_id uuid, -- Newest entry of the active branch; the next entry becomes its child.
  last_sequence integer not null default 0 check (last_sequence >= 0), -- Sequence of the newest entry of any branch.
  usage_entry_id uuid, -- Newest answer with reported usage since the last compaction.
  model_calls integer not null default 0, -- Calls of models that were paid, summaries and repeated calls included.
  input_tokens bigint not null default 0, -- Input tokens of all these calls, cached ones included.
  cache_read_tokens bigint not null default 0, -- Of them, read from the provider's cache.
  cache_write_tokens bigint not null default 0, -- Of them, written to the provider's cache.
  output_tokens bigint not null default 0, -- Output tokens of all these calls.
  cost numeric not null default 0, -- Dollars, over the calls whose price is known.
  calls_of_unknown_cost integer not null default 0, -- Calls whose price is unknown: unless 0, the cost is unknown.
  steps integer not null default 0, -- Model calls of the agent that were answered, over all turns.
  tool_calls integer not null default 0, -- Tool calls of all turns, without those that a turn's end prevented.
  is_unindexed boolean not null default false, -- The search index may lack something of it.
  unique (tenant, start_key),
  check ((compactions_over >= 0) and (compactions_over <= compactions))
) with (fillfactor = 70);
create index conversations_by_activity on conversations (tenant, active_at desc, id desc);
create index conversations_by_agent on conversations (tenant, agent, active_at desc, id desc);
create index conversations_idle on conversations (task_queue, agent, active_at) where active_turn_id is null;
create index conversations_unindexed on conversations (agent) where is_unindexed;
create index conversations_by_timeline on conversations (task_queue, timeline_since) where timeline_since is not null;
comment on table conversations
  is 'A conversation between a user and an agent: who may write to it, and where it stands.';

create table agent_snapshots (
  hash bytea primary key, -- SHA-256 of content and fixed.
  content json not null, -- The agent's configuration, frozen: any view can be rebuilt from it.
  -- Measurements of instructions and tool schemas, which no entry holds.
  fixed measurements not null check (fixed is not null)
);
comment on table agent_snapshots is 'Agents as turns began with them: shared by content, deleted with the last turn.';

create table turns (
  id uuid primary key, -- UUIDv7, made by the activity that began the turn.
  conversation_id uuid not null references conversations deferrable, -- The conversation that the turn works on.
  epoch integer not null, -- The epoch that the turn took; its right to write.
  workflow_id text not null, -- Temporal workflow that works on it.
  begun_by_run_id text not null, -- Temporal run that began it; a repeated begin finds this turn.
  run_id text not null, -- Temporal run that works on it now; changes when the turn continues as new.
  cancelled_through integer, -- Activities of that run with this id or a smaller one are cancelled; null: none.
  worker_identity text not null, -- Worker that began or continued it.
  agent text not null, -- Name of the agent.
  model text not null, -- provider/model in force: the agent's own, or a fallback.
  preset text not null, -- Name of the compaction policy.
  snapshot_hash bytea not null references agent_snapshots, -- The agent as the turn began with it.
  model_limits json, -- Limits of the model in force once an error named smaller ones than the snapshot.
  command_only boolean not null default false, -- A command for an idle conversation: a turn with no step.
  messages integer not null default 0, -- Messages taken when it began.
  begun_at timestamptz not null default holdfast_now(), -- When it took the conversation.
  ended_at timestamptz, -- When it ended; null while open.
  -- How it ended; null while open.
  outcome text check (outcome in ('completed', 'stopped', 'budget_exhausted', 'context_exhausted', 'model_failed',
    'refused', 'interrupted')),
  reason text, -- Code of what led to the outcome.
  breakdown json, -- What filled the window, in tokens, for context_exhausted.
  -- As in turn_usage; while open, as all these sums, less what the conversation had used when it began.
  model_calls integer not null default 0,
  input_tokens bigint not null default 0, -- As in turn_usage.
  cache_read_tokens bigint not null default 0, -- As in turn_usage.
  cache_write_tokens bigint not null default 0, -- As in turn_usage.
  output_tokens bigint not null default 0, -- As in turn_usage.
  cost numeric not null default 0, -- As in turn_usage.
  calls_of_unknown_cost integer not null default 0, -- As in turn_usage.
  compactions_over integer not null default 0, -- conversations.compactions_over in this turn, for rebuilding views.
  limits json not null, -- What the turn may use (src/turn/spending.ts).
  fallbacks jsonb not null default '[]'::jsonb, -- Models that were given up, oldest first: {model, callNumber, reason}.
  looked_at timestamptz, -- When upkeep last asked Temporal whether its workflow is open; null: never.
  steps integer not null default 0, -- As in turn_usage.
  tool_calls integer not null default 0, -- As in turn_usage.
  is_timeline_deleted boolean not null default false, -- Its events and the tries of its steps are gone.
  begin_scheduled_at timestamptz, -- When Temporal scheduled the activity that began it; null when imported.
  unique (conversation_id, epoch),
  unique (conversation_id, id),
  check ((outcome is null) = (ended_at is null))
);
create unique index turns_by_run on turns (workflow_id, begun_by_run_id);
create unique index turns_open on turns (conversation_id) where outcome is null;
create index turns_by_snapshot on turns (snapshot_hash);
comment on table turns
  is 'From user messages to an outcome. At most one is open per conversation; what it uses is in view turn_usage.';

create function model_in_force(turn turns) returns json language sql stable
return (
  select case when turn.fallbacks = '[]' then s.content
    else s.content -> 'fallbacks' -> jsonb_array_length(turn.fallbacks) - 1 end
  from agent_snapshots s where s.hash = turn.snapshot_hash);
comment on function model_in_force
  is 'The snapshot''s model, or the fallback that took over: policy, modelLimits, prices.';

create table messages (
  conversation_id uuid not null references conversations deferrable, -- Where it was sent.
  -- Chosen by the sender: sending twice is sending once.
  id text not null check ((length(id) >= 1) and (length(id) <= 200)),
  position bigint not null generated always as identity, -- Order of arrival.
  -- message: text for the agent. All others are commands to Holdfast.
  kind text not null check (kind in ('message', 'stop', 'compact', 'resume', 'fork', 'switch')),
  mode text not null check (mode in ('steer', 'queue')), -- steer: enters at the next step. queue: starts the next turn.
  content json not null, -- Content parts, as in src/context/log/content.ts.
  focus json, -- compact only: what the summary should dwell on, a JSON string.
  measurements measurements not null check (measurements is not null), -- Counted when it was sent.
  -- When it arrived; of an imported session, when it was recorded.
  created_at timestamptz not null default holdfast_now(),
  turn_id uuid, -- The turn that took it; null while it waits, or when no turn was there.
  consumed_at timestamptz, -- When it was taken or served; null while it waits.
  raise json, -- resume only: by how much limits are raised (src/turn/spending.ts).
  output json, -- JSON Schema of the final answer that it asks for; null: as its agent says.
  target_entry_id uuid, -- fork only: the entry before the new branch; null: before the first.
  target_branch integer, -- switch only: the branch to go on with.
  summarizes boolean, -- fork and switch: whether what is left behind is summarized.
  follows_id text, -- The fork that must succeed before it is answered.
  conversation_raise json, -- Part of the raise that counts for the conversation's limits.
  sent_epoch integer check (sent_epoch >= 0), -- Epoch of the conversation when it arrived; null when imported.
  primary key (conversation_id, id),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id) deferrable,
  foreign key (conversation_id, follows_id) references messages deferrable initially deferred,
  check (((target_entry_id is null) or (kind = 'fork')) and ((kind = 'switch') = (target_branch is not null))
    and ((kind in ('fork', 'switch')) = (summarizes is not null))),
  check ((focus is null) or (kind = 'compact')),
  check ((turn_id is null) or (consumed_at is not null)),
  check ((raise is null) or (kind = 'resume')),
  check ((output is null) or ((kind = 'message') and (mode = 'queue'))),
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

create table branches (
  conversation_id uuid not null references conversations deferrable, -- The conversation.
  branch integer not null, -- Number of the branch whose path is described; 0 is the first.
  ancestor integer not null, -- A branch on that path, itself included.
  through_sequence integer not null, -- Last sequence of the ancestor on the path.
  primary key (conversation_id, branch, ancestor)
);
comment on table branches is 'The entry tree, flat: a path is read by ranges of sequence, without recursion.';

create table decisions (
  turn_id uuid not null, -- The turn.
  call_number integer not null, -- The model call that asked for the tool.
  call_index integer not null, -- Position among the calls of the answer, from 0.
  conversation_id uuid not null, -- The conversation.
  epoch integer not null, -- Epoch of the writer that asked.
  -- approval: may the tool run? question: what does the user answer?
  kind text not null check (kind in ('approval', 'question')),
  agent text not null, -- Name of the agent: what a decision for all its turns is found by.
  tool text not null, -- The tool.
  -- withdrawn: the turn ended before a person decided.
  state text not null default 'waiting'
    check (state in ('waiting', 'approved', 'denied', 'answered', 'expired', 'withdrawn')),
  scope text, -- How far it reaches: this call, the turn, or all turns of the agent.
  content json, -- The reason of a decision or the answer to the question, a JSON string.
  -- Chosen by who decides: sending twice is sending once.
  decision_id text check ((length(decision_id) >= 1) and (length(decision_id) <= 200)),
  requested_at timestamptz not null default holdfast_now(), -- When the turn began to wait for it.
  expires_at timestamptz not null, -- When it counts as denied or not answered.
  decided_at timestamptz, -- When it was decided, by whomever; null while it waits.
  decided_by text, -- Name of a person or of an API key, where one was told.
  rules text[] not null check (cardinality(rules) > 0), -- All rules that made the call ask; each needs an approval.
  primary key (turn_id, call_number, call_index),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id) deferrable,
  check ((state = 'waiting') = (decided_at is null)),
  check ((state in ('approved', 'denied', 'answered')) = (scope is not null)),
  check ((state <> 'answered') or ((kind = 'question') and (content is not null))),
  check ((state not in ('approved', 'denied')) or (kind = 'approval')),
  check (scope in ('call', 'turn', 'agent'))
);
create index decisions_waiting on decisions (conversation_id) where state = 'waiting';
create index decisions_made on decisions (decided_at desc) where state in ('approved', 'denied', 'answered', 'expired');
create unique index decisions_once on decisions (conversation_id, decision_id) where decision_id is not null;
comment on table decisions
  is 'Tool calls that wait, or waited, for a person; the call runs only after its row says so.';

create table standing_decisions (
  tenant text not null, -- Whose conversations it holds for.
  agent text not null, -- Name of the agent.
  rule text not null, -- The rule of the configuration, or the tool's own.
  state text not null check (state in ('approved', 'denied')), -- What the calls get: approved or denied.
  decided_at timestamptz not null, -- When it was decided; the newest decision counts.
  turn_id uuid not null, -- The turn in which it was decided; it may be deleted since.
  call_number integer not null, -- The model call that asked for the tool on which it was decided.
  call_index integer not null, -- Position of that call in the answer.
  primary key (tenant, agent, rule)
);
comment on table standing_decisions is 'What a person said to all calls of an agent under a rule, until it is ended.';

alter table conversations add foreign key (id, active_turn_id)
  references turns (conversation_id, id) deferrable initially deferred;

create view turn_usage as
select
  t.conversation_id, -- The conversation.
  t.id as turn_id, -- The turn.
  -- Calls of models that were paid, summaries and repeated calls included.
  t.model_calls + coalesce(c.model_calls, 0) as model_calls,
  -- Input tokens of all these calls, cached ones included.
  t.input_tokens + coalesce(c.input_tokens, 0) as input_tokens,
  t.cache_read_tokens + coalesce(c.cache_read_tokens, 0) as cache_read_tokens, -- Of them, read from a cache.
  t.cache_write_tokens + coalesce(c.cache_write_tokens, 0) as cache_write_tokens, -- Of them, written to it.
  t.output_tokens + coalesce(c.output_tokens, 0) as output_tokens, -- Output tokens of all these calls.
  t.cost + coalesce(c.cost, 0) as cost, -- Dollars, over the calls whose price is known.
  -- Calls whose price is unknown: unless 0, the cost is unknown.
  t.calls_of_unknown_cost + coalesce(c.calls_of_unknown_cost, 0) as calls_of_unknown_cost,
  t.steps + coalesce(c.steps, 0) as steps, -- Model calls that were answered.
  -- Tool calls that the model asked for, without those that the end prevented.
  t.tool_calls + coalesce(c.tool_calls, 0) as tool_calls
from turns t left join conversations c on c.id = t.conversation_id and c.active_turn_id = t.id;
comment on view turn_usage is 'What each turn has used: an open turn writes to the conversation''s sums alone.';
