/** Turns of which an entry tells, numbered in their order. */
const TURNS = `(
  select t.id, row_number() over (order by t.epoch)::integer as turn from turns t
  where t.conversation_id = $1 and exists (select from entries e where e.turn_id = t.id)) as t on t.id = r.turn_id`;
const COMMITTED = `compactions c on c.id = r.compaction_id and c.status = 'committed'`;

/**
 * Memories and the agent's rules are of the agent and the user that a turn works with: of a note of rules the pins are left, behind an
 * empty text in place of the agent's own.
 */
const CONTENT = String.raw`case r.slot when 'memories' then '[]' when 'rules' then (
  select case when count(*) < 2 then '[]'
    else json_agg(case when p.place = 1 then '{"type":"text","text":""}' else p.part end order by p.place) end
  from json_array_elements(r.content) with ordinality as p (part, place)) else r.content end`;

/**
 * What a file holds: what was said, and what it was condensed into. Everything else is of the database that it was said in, and of who
 * says there what an agent may do: settings, tools, instructions, rules, limits, decisions, costs, tries, the timeline.
 */
export const FILE_TABLES = {
  // Passes that last for a turn are over with it; whoever goes on does not know its policy.
  conversations: `
    select r.id, r.branch, r.head_entry_id,
      case when l.is_over then r.compactions else r.compactions_over end as compactions_over,
      case when l.is_over then null else r.compaction_id end as compaction_id,
      (case when l.is_over then no_measurements() else r.view_offset end)::text as view_offset
    from conversations r left join lateral (
      select model_in_force(t) -> 'policy' ->> 'lasts' = 'turn' as is_over from turns t
      where t.conversation_id = r.id order by t.epoch desc limit 1) l on true
    where r.id = $1`,
  // Of a late result, and of an attempt that was killed, nothing is in the log.
  contents: `
    select r.id, r.created_at, r.bytes, r.missing_bytes, r.characters from contents r
    where r.id in (select e.original_id from entries e where e.conversation_id = $1) order by r.id`,
  content_pieces: `
    select r.content_id, r.number, translate(encode(r.data, 'base64'), E'\n', '') as data from content_pieces r
    where r.content_id in (select e.original_id from entries e where e.conversation_id = $1)
    order by r.content_id, r.number`,
  branches: `
    select r.branch, r.ancestor, r.through_sequence from branches r
    where r.conversation_id = $1 and r.branch > 0 order by r.branch, r.ancestor`,
  entries: `
    select r.id, r.sequence, t.turn, r.branch, r.parent_id, r.kind, r.slot, r.note_key as key, r.call_number, r.call_index,
      r.tool_name, c.outcome, m.model, r.compaction_id, r.original_id, r.created_at as at, ${CONTENT} as content
    from entries r join ${TURNS}
    left join model_attempts m on m.entry_id = r.id and m.turn_id = r.turn_id and m.call_number = r.call_number
    left join tool_calls c on r.kind = 'tool_result'
      and c.turn_id = r.turn_id and c.call_number = r.call_number and c.call_index = r.call_index
    where r.conversation_id = $1 order by r.sequence`,
  // Before their compactions, of which the timeline tells how many operations they have.
  compaction_parts: `
    select r.compaction_id, r.number, r.wave, r.kind, r.from_sequence, r.to_sequence, r.input_estimate, r.maximum_output,
      r.text, r.prompt_version, r.model
    from compaction_parts r join ${COMMITTED}
    where c.conversation_id = $1 and r.state = 'written' order by c.number, r.number`,
  compaction_operations: `
    select r.compaction_id, r.entry_sequence, r.kind, r.head_characters, r.tail_characters, r.array_items,
      r.measurements::text
    from compaction_operations r join ${COMMITTED}
    where c.conversation_id = $1 order by c.number, r.entry_sequence`,
  compactions: `
    select r.id, t.turn, r.number, r.call_number, r.reason, r.preset, r.form, r.form_number, r.head_entry_id,
      r.marker_entry_id, r.previous_id, r.plan, r.first_kept_sequence, r.covered_through_sequence, r.focus, r.summary,
      r.summary_measurements::text, r.sections, r.files, r.model, r.prompt_version, r.view_after::text,
      r.tokens_before, r.tokens_after, r.created_at, r.finished_at
    from compactions r join ${TURNS} where r.conversation_id = $1 and r.status = 'committed' order by r.number`,
  branch_summaries: `
    select r.entry_id, r.left_branch, r.from_sequence, r.through_sequence, r.files, r.model, r.prompt_version
    from branch_summaries r where r.conversation_id = $1 order by r.entry_id`,
  // Without the memory of another conversation that took its place, one would come back to life, or name what the file lacks.
  memories: `
    select r.id, r.scope, r.kind, r.text, r.source_id, r.superseded_by, r.confidence, r.expires_at, r.created_at
    from memories r where r.conversation_id = $1 and r.id in (
      with recursive standing (id) as (
        select m.id from memories m where m.conversation_id = $1 and m.superseded_by is null
        union all
        select m.id from memories m join standing s on m.superseded_by = s.id where m.conversation_id = $1)
      select id from standing) order by r.id`,
};
