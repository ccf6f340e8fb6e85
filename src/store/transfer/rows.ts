import { z } from 'zod';
import type { ContentPart } from '../../context/log/content.ts';
import { isId } from '../database/ids.ts';
import { invalid } from './read-file.ts';
import type { FileRow } from './read-file.ts';

/** What turns of ten thousand years would not come to; far from where Postgres's integers end. */
const HIGHEST_COUNT = 1_000_000_000;

const id = z.string().refine(isId);
const count = z.number().int().min(0).max(HIGHEST_COUNT);
const time = z.string().max(64);
const name = z.string().max(1_000);
const form = z.enum(['reduction', 'summary', 'shorter_summary', 'extractive_summary', 'clip_only']);
const reason = z.enum(['threshold', 'overflow', 'manual', 'maintenance']);
/** A composite of Postgres: small enough that sums of many stay within its numbers. */
const measurements = z.string().regex(/^\((?:-?\d{1,12},)*-?\d{1,12}\)$/u);

/** A value that is stored as it stands when it has this shape, with all that stands beside. */
function shaped<Schema extends z.ZodType>(schema: Schema) {
  return z.custom<z.output<Schema>>((value) => schema.safeParse(value).success);
}

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('thinking'), text: z.string(), provider: z.string() }),
  z.looseObject({ type: z.literal('image'), mediaType: z.string(), data: z.string(), width: count, height: count }),
  z.looseObject({ type: z.literal('file'), mediaType: z.string(), name: z.string(), data: z.string(), pages: count }),
  z.looseObject({
    type: z.literal('tool_call'),
    index: count,
    id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
]);

const content = z.custom<readonly ContentPart[]>((value) => z.array(part).safeParse(value).success);

const files = shaped(z.looseObject({ read: z.array(z.string()), modified: z.array(z.string()) }));

const plan = shaped(
  z.looseObject({
    form,
    firstKeptSequence: count.nullable(),
    coveredThroughSequence: count.nullable(),
    keptSequences: z.array(count),
    parts: z.array(z.looseObject({ number: count, wave: count, kind: z.string() })),
    droppedMessages: count,
    inPlace: z.boolean().optional(),
    shown: z.looseObject({ placement: z.string(), framing: z.string(), afterSequence: count }).optional(),
  }),
);

/** What a file may hold, table by table: nothing else is taken from it. */
export const FILE_ROWS = {
  contents: z.strictObject({
    id,
    created_at: time,
    bytes: z.number().int().min(0),
    missing_bytes: z.number().int().min(0),
    characters: z.number().int().min(0),
  }),
  content_pieces: z.strictObject({ content_id: id, number: count, data: z.base64() }),
  branches: z.strictObject({ branch: count.min(1), ancestor: count, through_sequence: z.int32().min(0) }),
  entries: z.strictObject({
    id,
    sequence: count.min(1),
    branch: count,
    parent_id: id.nullable(),
    turn: count.min(1),
    kind: z.enum(['user', 'assistant', 'tool_result', 'compaction', 'branch_summary', 'note']),
    slot: z.enum(['rules', 'memories', 'continuation', 'plan']).nullable(),
    note_key: name.nullable(),
    call_number: count.min(1).nullable(),
    call_index: count.nullable(),
    tool_name: name.nullable(),
    is_error: z.boolean().nullable(),
    outcome: name.nullable(),
    model: name.nullable(),
    compaction_id: id.nullable(),
    original_id: id.nullable(),
    created_at: time,
    content,
  }),
  compactions: z.strictObject({
    id,
    turn: count.min(1),
    call_number: count,
    reason,
    preset: name,
    form,
    form_number: count,
    previous_id: id.nullable(),
    focus: z.string().nullable(),
    plan,
    head_entry_id: id,
    first_kept_sequence: count.nullable(),
    covered_through_sequence: count.nullable(),
    tokens_before: count,
    tokens_after: count,
    number: count.min(1),
    marker_entry_id: id,
    committed_head_entry_id: id,
    summary: z.string().nullable(),
    summary_measurements: measurements.nullable(),
    sections: shaped(z.array(z.looseObject({ title: z.string(), text: z.string() }))).nullable(),
    files: files.nullable(),
    model: name.nullable(),
    prompt_version: name.nullable(),
    view_after: measurements,
    created_at: time,
    finished_at: time,
  }),
  compaction_parts: z.strictObject({
    compaction_id: id,
    number: count.min(1),
    wave: count.min(1),
    kind: z.string(),
    from_sequence: count.nullable(),
    to_sequence: count.nullable(),
    input_estimate: count,
    maximum_output: count,
    text: z.string(),
    prompt_version: name.nullable(),
    model: name.nullable(),
  }),
  compaction_operations: z.strictObject({
    compaction_id: id,
    entry_sequence: count,
    kind: z.string(),
    head_characters: count.nullable(),
    tail_characters: count.nullable(),
    array_items: count.nullable(),
    measurements,
  }),
  branch_summaries: z.strictObject({
    entry_id: id,
    left_branch: count,
    from_sequence: count,
    through_sequence: count,
    entries_read: count,
    files,
    model: name.nullable(),
    prompt_version: name,
  }),
  memories: z.strictObject({
    id,
    scope: z.enum(['agent', 'user', 'workspace']),
    kind: z.enum(['fact', 'preference', 'decision', 'summary']),
    text: z.string(),
    source_id: id.nullable(),
    confidence: z.number(),
    superseded_by: id.nullable(),
    expires_at: time.nullable(),
    created_at: time,
  }),
  conversations: z.strictObject({
    created_at: time,
    active_at: time,
    branch: count,
    head_entry_id: id.nullable(),
    compactions_over: count,
    compaction_id: id.nullable(),
    view_offset: measurements,
  }),
} as const;

export type FileTable = keyof typeof FILE_ROWS;
export type RowOf<Table extends FileTable> = z.output<(typeof FILE_ROWS)[Table]>;

export function isFileTable(table: string): table is FileTable {
  return Object.hasOwn(FILE_ROWS, table);
}

/** @throws StoreError `conversation_file_invalid` */
export function rowOf<Schema extends z.ZodType>(schema: Schema, { table, row, line }: FileRow): z.output<Schema> {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const [column] = issue?.path ?? [];
  if (issue?.code === 'unrecognized_keys' && column === undefined) {
    throw invalid(line, `${table} has no column ${JSON.stringify(issue.keys[0] ?? '')}`);
  }
  throw invalid(
    line,
    `${[table, ...(column === undefined ? [] : [String(column)])].join('.')} is not what Holdfast writes there`,
  );
}
