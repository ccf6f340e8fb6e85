import { FILE_ROWS, isFileTable } from './rows.ts';
import type { FileTable } from './rows.ts';

/** Turns of which an entry tells, numbered in their order. */
const TURNS = `(
  select t.id, row_number() over (order by t.epoch)::integer as number from turns t
  where t.conversation_id = $1 and exists (select from entries e where e.turn_id = t.id))`;

/** The original of an entry that shows less of it. */
const SHOWN_SHORTER =
  'exists (select from entries e where e.conversation_id = o.conversation_id and e.original_id = o.id)';

/**
 * Memories in force, and those whose chain of newer ones ends at such a one without leaving the conversation. Without the
 * memory of another conversation that took its place, one would come back to life, or name what the file does not hold.
 */
const MEMORIES_THAT_STAND_ALONE = `
  with recursive standing (id) as (
    select m.id from memories m where m.conversation_id = $1 and m.superseded_by is null
    union all
    select m.id from memories m join standing s on m.superseded_by = s.id where m.conversation_id = $1)
  select id from standing`;

/** Passes that last for a turn are over with it; whoever goes on does not know its policy. */
const CONVERSATION = `(
  select c.created_at, c.active_at, c.branch, c.head_entry_id,
    case when l.is_over then c.compactions else c.compactions_over end as compactions_over,
    case when l.is_over then null else c.compaction_id end as compaction_id,
    case when l.is_over then no_measurements() else c.view_offset end as view_offset
  from conversations c left join lateral (
    select model_in_force(t) -> 'policy' ->> 'lasts' = 'turn' as is_over from turns t
    where t.conversation_id = c.id order by t.epoch desc limit 1) l on true
  where c.id = $1)`;

/** Where the rows `r` of each table come from, in their order, with the conversation as $1. */
const SOURCES: Readonly<Record<FileTable, string>> = {
  contents: `contents r join contents o on o.id = r.id where r.conversation_id = $1 and ${SHOWN_SHORTER} order by r.id`,
  content_pieces: `content_pieces r join contents o on o.id = r.content_id
    where o.conversation_id = $1 and ${SHOWN_SHORTER} order by r.content_id, r.number`,
  branches: 'branches r where r.conversation_id = $1 and r.branch > 0 order by r.branch, r.ancestor',
  entries: `entries r join ${TURNS} t on t.id = r.turn_id
    left join model_attempts m on m.entry_id = r.id and m.turn_id = r.turn_id and m.call_number = r.call_number
    left join tool_calls c on r.kind = 'tool_result'
      and c.turn_id = r.turn_id and c.call_number = r.call_number and c.call_index = r.call_index
    where r.conversation_id = $1 order by r.sequence`,
  compactions: `compactions r join ${TURNS} t on t.id = r.turn_id
    where r.conversation_id = $1 and r.status = 'committed' order by r.number`,
  compaction_parts: `compaction_parts r join compactions c on c.id = r.compaction_id
    where c.conversation_id = $1 and c.status = 'committed' and r.state = 'written' order by c.number, r.number`,
  compaction_operations: `compaction_operations r join compactions c on c.id = r.compaction_id
    where c.conversation_id = $1 and c.status = 'committed' order by c.number, r.entry_sequence`,
  branch_summaries: 'branch_summaries r where r.conversation_id = $1 order by r.entry_id',
  memories: `memories r where r.id in (${MEMORIES_THAT_STAND_ALONE}) order by r.id`,
  conversations: `${CONVERSATION} as r`,
};

/** Columns that are not of the table, or not as they stand there. Rules and memories are of the agent and the user that a turn works with. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  data: String.raw`translate(encode(r.data, 'base64'), E'\n', '')`,
  turn: 't.number',
  outcome: 'c.outcome',
  'entries.model': 'm.model',
  'entries.content': "case when r.slot in ('rules', 'memories') then '[]'::json else r.content end",
};

/** Of which JSON has no type. */
const AS_TEXT = /_at$|measurements$|^view_/u;

/**
 * The query of each table: what was said, and what it was condensed into. Everything else is of the database that it was said in, and of who
 * says there what an agent may do: settings, tools, instructions, rules, limits, decisions, costs, tries, the timeline.
 */
export const EXPORTED_TABLES = Object.keys(FILE_ROWS)
  .filter(isFileTable)
  .map((name) => {
    const columns = Object.keys(FILE_ROWS[name].shape).map((column) => {
      const expression = EXPRESSIONS[`${name}.${column}`] ?? EXPRESSIONS[column] ?? `r.${column}`;
      return `${expression}${AS_TEXT.test(column) ? '::text' : ''} as ${column}`;
    });
    return { name, query: `select ${columns.join(', ')} from ${SOURCES[name]}` };
  });
