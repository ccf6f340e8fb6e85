import { z } from 'zod';
import { contentProblem } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import { ENTRY_KINDS, NOTE_SLOTS } from '../../context/log/entry.ts';
import { isId } from '../database/ids.ts';
import { RecordingError } from '../log/record-log.ts';

const id = z.string().refine(isId);
/** What turns of ten thousand years would not come to; far from where Postgres's integers end. */
const count = z.number().int().min(0).max(1_000_000_000);
const number = count.nullable();
const name = z.string().max(1_000);
/** A composite of Postgres: small enough that sums of many stay within its numbers. */
const measurements = z.string().regex(/^\((?:-?\d{1,12},)*-?\d{1,12}\)$/u);
const part = z.looseObject({ ...each(count, 'number wave'), kind: name });
const framing = z.looseObject(each(z.string(), 'opening closing'));
const shown = z.looseObject({ framing, afterSequence: count });

/** What the columns of a file hold, alike in all tables. Postgres knows which may be null, and what else a value must be. */
const COLUMNS = {
  ...each(id, 'id contentId entryId'),
  ...each(id.nullable(), 'headEntryId parentId compactionId originalId markerEntryId previousId sourceId supersededBy'),
  ...each(name, 'kind createdAt activeAt'),
  ...each(name.nullable(), 'key toolName model promptVersion reason preset form finishedAt expiresAt'),
  ...each(count.min(1), 'sequence turn'),
  ...each(count, 'number branch'),
  ...each(number, 'callNumber callIndex ancestor leftBranch wave formNumber compactionsOver bytes missingBytes'),
  ...each(number, 'characters headCharacters tailCharacters arrayItems inputEstimate maximumOutput'),
  ...each(number, 'firstKeptSequence coveredThroughSequence fromSequence toSequence entrySequence'),
  ...each(number, 'tokensBefore tokensAfter'),
  // Of its own entries a branch has all: as far as integers go.
  throughSequence: z.int32().min(0),
  ...each(measurements.nullable(), 'measurements summaryMeasurements viewAfter viewOffset'),
  ...each(z.string().nullable(), 'focus summary'),
  text: z.string(),
  data: z.base64(),
  confidence: z.number(),
  entryKind: z.enum(ENTRY_KINDS),
  slot: z.enum(NOTE_SLOTS).nullable(),
  outcome: z.enum(['succeeded', 'failed', 'outcome_unknown', 'not_run']).nullable(),
  scope: z.enum(['agent', 'user', 'workspace']),
  content: z.custom<readonly ContentPart[]>((value) => contentProblem(value) === null),
  files: shaped(z.looseObject(each(z.array(z.string()), 'read modified'))),
  plan: shaped(
    z
      .looseObject({
        ...each(number, 'firstKeptSequence coveredThroughSequence'),
        form: name,
        keptSequences: z.array(count),
        parts: z.array(part),
        droppedMessages: count,
        inPlace: z.boolean().optional(),
        shown: shown.optional(),
      })
      .refine((plan) => plan.coveredThroughSequence === null || plan.shown !== undefined),
  ),
};

/** A value that is stored as it stands when it has this shape, with all that stands beside. */
function shaped(schema: z.ZodType) {
  return z.custom<unknown>((value) => schema.nullable().safeParse(value).success);
}

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

function each<Schema extends z.ZodType, Names extends string>(
  schema: Schema,
  columns: Names,
): Readonly<Record<Words<Names>, Schema>>;
function each(schema: z.ZodType, columns: string): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(columns.split(' ').map((column) => [column, schema]));
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
    columns: ['id createdAt bytes missingBytes characters'],
    from: `contents r join contents o on o.id = r.id where r.conversation_id = $1 and ${SHOWN_SHORTER} order by r.id`,
  },
  content_pieces: {
    columns: ['contentId number data'],
    from: `content_pieces r join contents o on o.id = r.content_id
      where o.conversation_id = $1 and ${SHOWN_SHORTER} order by r.content_id, r.number`,
  },
  branches: {
    columns: ['branch ancestor throughSequence'],
    from: 'branches r where r.conversation_id = $1 and r.branch > 0 order by r.branch, r.ancestor',
  },
  entries: {
    columns: [
      'id sequence turn branch parentId entryKind slot key callNumber callIndex toolName outcome model compactionId',
      'originalId createdAt content',
    ],
    from: `entries r join ${TURNS} t on t.id = r.turn_id
      left join model_attempts m on m.entry_id = r.id and m.turn_id = r.turn_id and m.call_number = r.call_number
      left join tool_calls c on r.kind = 'tool_result'
        and c.turn_id = r.turn_id and c.call_number = r.call_number and c.call_index = r.call_index
      where r.conversation_id = $1 order by r.sequence`,
  },
  compactions: {
    columns: [
      'id turn number callNumber reason preset form formNumber headEntryId markerEntryId previousId plan',
      'firstKeptSequence coveredThroughSequence focus summary summaryMeasurements files model promptVersion',
      'viewAfter tokensBefore tokensAfter createdAt finishedAt',
    ],
    from: `compactions r join ${TURNS} t on t.id = r.turn_id
      where r.conversation_id = $1 and r.status = 'committed' order by r.number`,
  },
  compaction_parts: {
    columns: [
      'compactionId number wave kind fromSequence toSequence inputEstimate maximumOutput text promptVersion model',
    ],
    from: `compaction_parts r ${COMMITTED} and r.state = 'written' order by c.number, r.number`,
  },
  compaction_operations: {
    columns: ['compactionId entrySequence kind headCharacters tailCharacters arrayItems measurements'],
    from: `compaction_operations r ${COMMITTED} order by c.number, r.entry_sequence`,
  },
  branch_summaries: {
    columns: ['entryId leftBranch fromSequence throughSequence files model promptVersion'],
    from: 'branch_summaries r where r.conversation_id = $1 order by r.entry_id',
  },
  memories: {
    columns: ['id scope kind text sourceId supersededBy confidence expiresAt createdAt'],
    // Without the memory of another conversation that took its place, one would come back to life, or name what the file lacks.
    from: `memories r where r.conversation_id = $1 and r.id in (
      with recursive standing (id) as (
        select m.id from memories m where m.conversation_id = $1 and m.superseded_by is null
        union all
        select m.id from memories m join standing s on m.superseded_by = s.id where m.conversation_id = $1)
      select id from standing) order by r.id`,
  },
  conversations: {
    columns: ['createdAt activeAt branch headEntryId compactionId compactionsOver viewOffset'],
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
  const wanted = columnsOf(table);
  const schemas = Object.entries(COLUMNS).filter(([column]) => wanted.includes(column));
  const { success, error } = z.strictObject(Object.fromEntries(schemas)).safeParse(row);
  if (success) return z.custom<RowOf<Table>>().parse(row);
  const [issue] = error.issues;
  const column = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path[0];
  throw new RecordingError(`${JSON.stringify(column)} of ${table} is not what Holdfast writes there`);
}
