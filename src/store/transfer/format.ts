import { z } from 'zod';
import { contentProblem } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import { isId } from '../database/ids.ts';

const id = z.string().refine(isId);
/** What turns of ten thousand years would not come to; far from where Postgres's integers end. */
const count = z.number().int().min(0).max(1_000_000_000);
const number = count.min(1);
const size = z.number().int().min(0);
const time = z.string().max(64);
const name = z.string().max(1_000);
/** A composite of Postgres: small enough that sums of many stay within its numbers. */
const measurements = z.string().regex(/^\((?:-?\d{1,12},)*-?\d{1,12}\)$/u);
const content = z.custom<readonly ContentPart[]>((value) => contentProblem(value) === null);
const form = z.enum(['reduction', 'summary', 'shorter_summary', 'extractive_summary', 'clip_only']);

/** A value that is stored as it stands when it has this shape, with all that stands beside. */
function shaped<Schema extends z.ZodType>(schema: Schema) {
  return z.custom<z.output<Schema>>((value) => schema.safeParse(value).success);
}

const files = shaped(z.looseObject({ read: z.array(z.string()), modified: z.array(z.string()) }));
const plan = shaped(
  z.looseObject({
    ...each(count.nullable(), 'firstKeptSequence', 'coveredThroughSequence'),
    form,
    keptSequences: z.array(count),
    parts: z.array(z.looseObject({ ...each(count, 'number', 'wave'), kind: z.string() })),
    droppedMessages: count,
    inPlace: z.boolean().optional(),
    shown: z.looseObject({ ...each(z.string(), 'placement', 'framing'), afterSequence: count }).optional(),
  }),
);

function each<Schema extends z.ZodType, Column extends string>(
  schema: Schema,
  ...columns: readonly Column[]
): Readonly<Record<Column, Schema>>;
function each(schema: z.ZodType, ...columns: readonly string[]): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(columns.map((column) => [column, schema]));
}

/** Turns of which an entry tells, numbered in their order. */
const TURNS = `(
  select t.id, row_number() over (order by t.epoch)::integer as number from turns t
  where t.conversation_id = $1 and exists (select from entries e where e.turn_id = t.id))`;
/** The original of an entry that shows less of it. */
const SHOWN_SHORTER =
  'exists (select from entries e where e.conversation_id = o.conversation_id and e.original_id = o.id)';
const COMMITTED =
  "join compactions c on c.id = r.compaction_id where c.conversation_id = $1 and c.status = 'committed'";

/**
 * What a file holds: what was said, and what it was condensed into, table by table in their order. `from` are the rows `r` of the
 * conversation $1. Everything else is of the database that it was said in, and of who says there what an agent may do: settings,
 * tools, instructions, rules, limits, decisions, costs, tries, the timeline.
 */
export const FILE_TABLES = {
  contents: {
    row: z.strictObject({ id, created_at: time, ...each(size, 'bytes', 'missing_bytes', 'characters') }),
    from: `contents r join contents o on o.id = r.id where r.conversation_id = $1 and ${SHOWN_SHORTER} order by r.id`,
  },
  content_pieces: {
    row: z.strictObject({ content_id: id, number: count, data: z.base64() }),
    from: `content_pieces r join contents o on o.id = r.content_id
      where o.conversation_id = $1 and ${SHOWN_SHORTER} order by r.content_id, r.number`,
  },
  branches: {
    row: z.strictObject({ branch: number, ancestor: count, through_sequence: z.int32().min(0) }),
    from: 'branches r where r.conversation_id = $1 and r.branch > 0 order by r.branch, r.ancestor',
  },
  entries: {
    row: z.strictObject({
      ...each(number, 'sequence', 'turn'),
      ...each(id.nullable(), 'parent_id', 'compaction_id', 'original_id'),
      ...each(name.nullable(), 'note_key', 'tool_name', 'model'),
      outcome: z.enum(['succeeded', 'failed', 'outcome_unknown', 'not_run']).nullable(),
      id,
      branch: count,
      kind: z.enum(['user', 'assistant', 'tool_result', 'compaction', 'branch_summary', 'note']),
      slot: z.enum(['rules', 'memories', 'continuation', 'plan']).nullable(),
      call_number: number.nullable(),
      call_index: count.nullable(),
      created_at: time,
      content,
    }),
    from: `entries r join ${TURNS} t on t.id = r.turn_id
      left join model_attempts m on m.entry_id = r.id and m.turn_id = r.turn_id and m.call_number = r.call_number
      left join tool_calls c on r.kind = 'tool_result'
        and c.turn_id = r.turn_id and c.call_number = r.call_number and c.call_index = r.call_index
      where r.conversation_id = $1 order by r.sequence`,
  },
  compactions: {
    row: z.strictObject({
      ...each(id, 'id', 'head_entry_id', 'marker_entry_id', 'committed_head_entry_id'),
      ...each(number, 'turn', 'number'),
      ...each(count, 'call_number', 'form_number', 'tokens_before', 'tokens_after'),
      ...each(count.nullable(), 'first_kept_sequence', 'covered_through_sequence'),
      ...each(z.string().nullable(), 'focus', 'summary'),
      ...each(name.nullable(), 'model', 'prompt_version'),
      ...each(time, 'created_at', 'finished_at'),
      reason: z.enum(['threshold', 'overflow', 'manual', 'maintenance']),
      preset: name,
      form,
      previous_id: id.nullable(),
      plan,
      summary_measurements: measurements.nullable(),
      sections: shaped(z.array(z.looseObject(each(z.string(), 'title', 'text')))).nullable(),
      files: files.nullable(),
      view_after: measurements,
    }),
    from: `compactions r join ${TURNS} t on t.id = r.turn_id
      where r.conversation_id = $1 and r.status = 'committed' order by r.number`,
  },
  compaction_parts: {
    row: z.strictObject({
      ...each(number, 'number', 'wave'),
      ...each(z.string(), 'kind', 'text'),
      ...each(count.nullable(), 'from_sequence', 'to_sequence'),
      ...each(count, 'input_estimate', 'maximum_output'),
      ...each(name.nullable(), 'prompt_version', 'model'),
      compaction_id: id,
    }),
    from: `compaction_parts r ${COMMITTED} and r.state = 'written' order by c.number, r.number`,
  },
  compaction_operations: {
    row: z.strictObject({
      ...each(count.nullable(), 'head_characters', 'tail_characters', 'array_items'),
      compaction_id: id,
      entry_sequence: count,
      kind: z.string(),
      measurements,
    }),
    from: `compaction_operations r ${COMMITTED} order by c.number, r.entry_sequence`,
  },
  branch_summaries: {
    row: z.strictObject({
      ...each(count, 'left_branch', 'from_sequence', 'through_sequence', 'entries_read'),
      entry_id: id,
      files,
      model: name.nullable(),
      prompt_version: name,
    }),
    from: 'branch_summaries r where r.conversation_id = $1 order by r.entry_id',
  },
  memories: {
    row: z.strictObject({
      id,
      scope: z.enum(['agent', 'user', 'workspace']),
      kind: z.enum(['fact', 'preference', 'decision', 'summary']),
      text: z.string(),
      ...each(id.nullable(), 'source_id', 'superseded_by'),
      confidence: z.number(),
      expires_at: time.nullable(),
      created_at: time,
    }),
    // Without the memory of another conversation that took its place, one would come back to life, or name what the file lacks.
    from: `memories r where r.id in (
      with recursive standing (id) as (
        select m.id from memories m where m.conversation_id = $1 and m.superseded_by is null
        union all
        select m.id from memories m join standing s on m.superseded_by = s.id where m.conversation_id = $1)
      select id from standing) order by r.id`,
  },
  conversations: {
    row: z.strictObject({
      ...each(time, 'created_at', 'active_at'),
      ...each(count, 'branch', 'compactions_over'),
      ...each(id.nullable(), 'head_entry_id', 'compaction_id'),
      view_offset: measurements,
    }),
    // Passes that last for a turn are over with it; whoever goes on does not know its policy.
    from: `(
      select c.created_at, c.active_at, c.branch, c.head_entry_id,
        case when l.is_over then c.compactions else c.compactions_over end as compactions_over,
        case when l.is_over then null else c.compaction_id end as compaction_id,
        case when l.is_over then no_measurements() else c.view_offset end as view_offset
      from conversations c left join lateral (
        select model_in_force(t) -> 'policy' ->> 'lasts' = 'turn' as is_over from turns t
        where t.conversation_id = c.id order by t.epoch desc limit 1) l on true
      where c.id = $1) as r`,
  },
} as const;

export type FileTable = keyof typeof FILE_TABLES;
export type RowOf<Table extends FileTable> = z.output<(typeof FILE_TABLES)[Table]['row']>;

export function isFileTable(table: string): table is FileTable {
  return Object.hasOwn(FILE_TABLES, table);
}

const JSON_COLUMNS = /^(?:files|focus|plan|sections|summary|text)$/u;

export function isJson(column: string): boolean {
  return JSON_COLUMNS.test(column);
}

/** The pins of a note of rules, behind an empty text in place of the agent's own rules. */
const PINS = String.raw`(
  select case when count(*) < 2 then '[]'
    else json_agg(case when p.place = 1 then '{"type":"text","text":""}' else p.part end order by p.place) end
  from json_array_elements(r.content) with ordinality as p (part, place))`;

/**
 * Columns that are not of the table, or not as they stand there. Memories and the agent's rules are of the agent and the user that a
 * turn works with.
 */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  data: String.raw`translate(encode(r.data, 'base64'), E'\n', '')`,
  turn: 't.number',
  outcome: 'c.outcome',
  'entries.model': 'm.model',
  'entries.content': `case r.slot when 'rules' then ${PINS} when 'memories' then '[]' else r.content end`,
};

/** Of which JSON has no type. */
const AS_TEXT = /_at$|measurements$|^view_/u;

/** The query of a table's rows, with the conversation as $1. */
export function exportQuery(table: FileTable): string {
  const { row, from } = FILE_TABLES[table];
  const columns = Object.keys(row.shape).map((column) => {
    const expression = EXPRESSIONS[`${table}.${column}`] ?? EXPRESSIONS[column] ?? `r.${column}`;
    return `${expression}${AS_TEXT.test(column) ? '::text' : ''} as ${column}`;
  });
  return `select ${columns.join(', ')} from ${from}`;
}
