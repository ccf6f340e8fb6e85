import { z } from 'zod';
import { contentProblem } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import { ENTRY_KINDS, NOTE_SLOTS } from '../../context/log/entry.ts';
import { isId } from '../database/ids.ts';
import { RecordingError } from '../log/record-log.ts';

const id = z.string().refine(isId);
/** What turns of ten thousand years would not come to; far from where Postgres's integers end. */
const count = z.number().int().min(0).max(1_000_000_000);
const name = z.string().max(1_000);
/** A composite of Postgres: small enough that sums of many stay within its numbers. */
const measurements = z.string().regex(/^\((?:-?\d{1,12},)*-?\d{1,12}\)$/u);
const range = each(count.nullable(), 'firstKeptSequence', 'coveredThroughSequence');
const part = z.looseObject({ ...each(count, 'number', 'wave'), kind: z.string() });
const shown = z.looseObject({ ...each(z.string(), 'placement', 'framing'), afterSequence: count });

/** What the columns of a file hold, alike in all tables. Postgres knows which may be null, and what else a value must be. */
const COLUMNS = {
  ...each(id, 'id', 'head_entry_id', 'content_id', 'entry_id'),
  ...each(id.nullable(), 'parent_id', 'compaction_id', 'original_id', 'marker_entry_id'),
  ...each(id.nullable(), 'previous_id', 'source_id', 'superseded_by'),
  ...each(z.string().max(64).nullable(), 'created_at', 'active_at', 'finished_at', 'expires_at'),
  ...each(count.min(1), 'sequence', 'turn', 'wave'),
  ...each(count, 'number', 'bytes', 'missing_bytes', 'characters', 'branch', 'ancestor', 'left_branch'),
  ...each(count, 'form_number', 'tokens_before', 'tokens_after', 'compactions_over', 'entry_sequence'),
  ...each(count, 'input_estimate', 'maximum_output'),
  // Of its own entries a branch has all: as far as integers go.
  through_sequence: z.int32().min(0),
  ...each(count.nullable(), 'call_number', 'call_index', 'first_kept_sequence', 'covered_through_sequence'),
  ...each(count.nullable(), 'from_sequence', 'to_sequence', 'head_characters', 'tail_characters', 'array_items'),
  ...each(name.nullable(), 'note_key', 'tool_name', 'model', 'prompt_version'),
  ...each(name, 'kind', 'reason', 'preset', 'form'),
  ...each(z.string().nullable(), 'focus', 'summary'),
  ...each(measurements.nullable(), 'measurements', 'summary_measurements', 'view_after', 'view_offset'),
  text: z.string(),
  data: z.base64(),
  confidence: z.number(),
  entry_kind: z.enum(ENTRY_KINDS),
  slot: z.enum(NOTE_SLOTS).nullable(),
  outcome: z.enum(['succeeded', 'failed', 'outcome_unknown', 'not_run']).nullable(),
  scope: z.enum(['agent', 'user', 'workspace']),
  content: z.custom<readonly ContentPart[]>((value) => contentProblem(value) === null),
  files: shaped(z.looseObject(each(z.array(z.string()), 'read', 'modified'))).nullable(),
  sections: shaped(z.array(z.looseObject(each(z.string(), 'title', 'text')))).nullable(),
  plan: shaped(
    z.looseObject({
      ...range,
      form: name,
      keptSequences: z.array(count),
      parts: z.array(part),
      droppedMessages: count,
      inPlace: z.boolean().optional(),
      shown: shown.optional(),
    }),
  ),
};

/** A value that is stored as it stands when it has this shape, with all that stands beside. */
function shaped<Schema extends z.ZodType>(schema: Schema) {
  return z.custom<z.output<Schema>>((value) => schema.safeParse(value).success);
}

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
    columns: ['id created_at bytes missing_bytes characters'],
    from: `contents r join contents o on o.id = r.id where r.conversation_id = $1 and ${SHOWN_SHORTER} order by r.id`,
  },
  content_pieces: {
    columns: ['content_id number data'],
    from: `content_pieces r join contents o on o.id = r.content_id
      where o.conversation_id = $1 and ${SHOWN_SHORTER} order by r.content_id, r.number`,
  },
  branches: {
    columns: ['branch ancestor through_sequence'],
    from: 'branches r where r.conversation_id = $1 and r.branch > 0 order by r.branch, r.ancestor',
  },
  entries: {
    columns: [
      'id sequence turn branch parent_id entry_kind slot note_key call_number call_index tool_name outcome model',
      'compaction_id original_id created_at content',
    ],
    from: `entries r join ${TURNS} t on t.id = r.turn_id
      left join model_attempts m on m.entry_id = r.id and m.turn_id = r.turn_id and m.call_number = r.call_number
      left join tool_calls c on r.kind = 'tool_result'
        and c.turn_id = r.turn_id and c.call_number = r.call_number and c.call_index = r.call_index
      where r.conversation_id = $1 order by r.sequence`,
  },
  compactions: {
    columns: [
      'id turn number call_number reason preset form form_number head_entry_id marker_entry_id',
      'previous_id plan first_kept_sequence covered_through_sequence focus summary summary_measurements sections files',
      'model prompt_version view_after tokens_before tokens_after created_at finished_at',
    ],
    from: `compactions r join ${TURNS} t on t.id = r.turn_id
      where r.conversation_id = $1 and r.status = 'committed' order by r.number`,
  },
  compaction_parts: {
    columns: [
      'compaction_id number wave kind from_sequence to_sequence input_estimate maximum_output text prompt_version model',
    ],
    from: `compaction_parts r ${COMMITTED} and r.state = 'written' order by c.number, r.number`,
  },
  compaction_operations: {
    columns: ['compaction_id entry_sequence kind head_characters tail_characters array_items measurements'],
    from: `compaction_operations r ${COMMITTED} order by c.number, r.entry_sequence`,
  },
  branch_summaries: {
    columns: ['entry_id left_branch from_sequence through_sequence files model prompt_version'],
    from: 'branch_summaries r where r.conversation_id = $1 order by r.entry_id',
  },
  memories: {
    columns: ['id scope kind text source_id superseded_by confidence expires_at created_at'],
    // Without the memory of another conversation that took its place, one would come back to life, or name what the file lacks.
    from: `memories r where r.conversation_id = $1 and r.id in (
      with recursive standing (id) as (
        select m.id from memories m where m.conversation_id = $1 and m.superseded_by is null
        union all
        select m.id from memories m join standing s on m.superseded_by = s.id where m.conversation_id = $1)
      select id from standing) order by r.id`,
  },
  conversations: {
    columns: ['created_at active_at branch head_entry_id compaction_id compactions_over view_offset'],
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

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

export type FileTable = keyof typeof FILE_TABLES;
export type RowOf<Table extends FileTable> = {
  readonly [Column in Words<(typeof FILE_TABLES)[Table]['columns'][number]> & keyof typeof COLUMNS]: z.output<
    (typeof COLUMNS)[Column]
  >;
};

export function isFileTable(table: string): table is FileTable {
  return Object.hasOwn(FILE_TABLES, table);
}

export function columnsOf(table: FileTable): readonly string[] {
  return FILE_TABLES[table].columns.flatMap((names) => names.split(' '));
}

/** @throws RecordingError for a column that is missing, of another shape, or none of the table */
export function parseRow<Table extends FileTable>(table: Table, row: object): RowOf<Table> {
  const wanted = new Set(columnsOf(table));
  const schemas = Object.entries(COLUMNS).filter(([column]) => wanted.has(column));
  const { success, error } = z.strictObject(Object.fromEntries(schemas)).safeParse(row);
  if (success) return z.custom<RowOf<Table>>().parse(row);
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys' && issue.path.length === 0)
    throw new RecordingError(`${table} has no column ${JSON.stringify(issue.keys[0] ?? '')}`);
  const place = [table, ...(issue?.path.slice(0, 1) ?? [])].join('.');
  throw new RecordingError(`${place} is not what Holdfast writes there`);
}
