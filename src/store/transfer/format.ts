export const CONVERSATION_FORMAT = 'holdfast-conversation';
export const CONVERSATION_FORMAT_VERSION = 1;

interface ExportedTable {
  readonly name: string;
  /** Its rows in their order, with the conversation as $1. */
  readonly query: string;
}

/** Turns of which an entry tells, numbered in their order. */
const TURNS = `(
  select t.id, row_number() over (order by t.epoch)::integer as number from turns t
  where t.conversation_id = $1 and exists (select from entries e where e.turn_id = t.id))`;

/** The original of an entry that shows less of it. */
const SHOWN_SHORTER = 'select from entries e where e.conversation_id = o.conversation_id and e.original_id = o.id';

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

/**
 * What was said, and what it was condensed into. Everything else is of the database that it was said in, and of who says there what an
 * agent may do: settings, tools, instructions, rules, limits, decisions, costs, tries, the timeline.
 */
export const EXPORTED_TABLES: readonly ExportedTable[] = [
  {
    name: 'contents',
    query: `select o.id, o.created_at::text, o.bytes, o.missing_bytes, o.characters from contents o
      where o.conversation_id = $1 and exists (${SHOWN_SHORTER}) order by o.id`,
  },
  {
    name: 'content_pieces',
    query: `select p.content_id, p.number, translate(encode(p.data, 'base64'), E'\\n', '') as data
      from content_pieces p join contents o on o.id = p.content_id
      where o.conversation_id = $1 and exists (${SHOWN_SHORTER}) order by p.content_id, p.number`,
  },
  {
    name: 'branches',
    query: `select branch, ancestor, through_sequence from branches
      where conversation_id = $1 and branch > 0 order by branch, ancestor`,
  },
  {
    name: 'entries',
    // Rules and memories are of the agent and the user that a turn works with.
    query: `select e.id, e.sequence, e.branch, e.parent_id, t.number as turn, e.kind, e.slot, e.note_key, e.call_number,
        e.call_index, e.tool_name, e.is_error, c.outcome, m.model, e.compaction_id, e.original_id, e.created_at::text,
        case when e.slot in ('rules', 'memories') then '[]'::json else e.content end as content
      from entries e join ${TURNS} t on t.id = e.turn_id
      left join model_attempts m on m.entry_id = e.id and m.turn_id = e.turn_id and m.call_number = e.call_number
      left join tool_calls c on e.kind = 'tool_result'
        and c.turn_id = e.turn_id and c.call_number = e.call_number and c.call_index = e.call_index
      where e.conversation_id = $1 order by e.sequence`,
  },
  {
    name: 'compactions',
    query: `select c.id, t.number as turn, c.call_number, c.reason, c.preset, c.form, c.form_number, c.previous_id, c.focus,
        c.plan, c.head_entry_id, c.first_kept_sequence, c.covered_through_sequence, c.tokens_before,
        c.tokens_after, c.number, c.marker_entry_id, c.committed_head_entry_id, c.summary,
        c.summary_measurements::text, c.sections, c.files, c.model, c.prompt_version, c.view_after::text,
        c.created_at::text, c.finished_at::text
      from compactions c join ${TURNS} t on t.id = c.turn_id
      where c.conversation_id = $1 and c.status = 'committed' order by c.number`,
  },
  {
    name: 'compaction_parts',
    query: `select p.compaction_id, p.number, p.wave, p.kind, p.from_sequence, p.to_sequence, p.input_estimate, p.maximum_output,
        p.text, p.prompt_version, p.model
      from compaction_parts p join compactions c on c.id = p.compaction_id
      where c.conversation_id = $1 and c.status = 'committed' and p.state = 'written' order by c.number, p.number`,
  },
  {
    name: 'compaction_operations',
    query: `select o.compaction_id, o.entry_sequence, o.kind, o.head_characters, o.tail_characters, o.array_items,
        o.measurements::text
      from compaction_operations o join compactions c on c.id = o.compaction_id
      where c.conversation_id = $1 and c.status = 'committed' order by c.number, o.entry_sequence`,
  },
  {
    name: 'branch_summaries',
    query: `select entry_id, left_branch, from_sequence, through_sequence, entries_read, files, model, prompt_version
      from branch_summaries where conversation_id = $1 order by entry_id`,
  },
  {
    name: 'memories',
    query: `select id, scope, kind, text, source_id, confidence, superseded_by, expires_at::text, created_at::text
      from memories where id in (${MEMORIES_THAT_STAND_ALONE}) order by id`,
  },
  {
    name: 'conversations',
    // Passes that last for a turn are over with it; whoever goes on does not know its policy.
    query: `select created_at::text, active_at::text, branch, head_entry_id, compactions_over, compaction_id, view_offset::text
      from (
        select c.created_at, c.active_at, c.branch, c.head_entry_id,
          case when l.is_over then c.compactions else c.compactions_over end as compactions_over,
          case when l.is_over then null else c.compaction_id end as compaction_id,
          case when l.is_over then no_measurements() else c.view_offset end as view_offset
        from conversations c left join lateral (
          select model_in_force(t) -> 'policy' ->> 'lasts' = 'turn' as is_over from turns t
          where t.conversation_id = c.id order by t.epoch desc limit 1) l on true
        where c.id = $1) as standing`,
  },
];
