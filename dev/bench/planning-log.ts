import type { SessionTreeEntry } from '@earendil-works/pi-agent-core';
import type { ContentPart } from '../../src/context/log/content.ts';
import type { EntryOutline } from '../../src/context/log/entry.ts';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { measureContent } from '../../src/context/log/measure.ts';
import type { Database } from '../../src/store/database/database.ts';
import { toOutline } from '../../src/store/log/entry-rows.ts';
import type { OutlineColumns } from '../../src/store/log/entry-rows.ts';
import { newId } from '../../src/store/database/ids.ts';
import { measurementsText } from '../../src/store/log/measurement-columns.ts';
import { addMeasurements, NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { insertOwners } from './fill-conversation.ts';

/** Entries of one turn: a message and twelve steps of one tool call each. */
const ENTRIES_PER_TURN = 25;
const SAMPLE_ENTRIES = 10 * ENTRIES_PER_TURN;
/** Rows that one INSERT writes. */
const ROWS_AT_ONCE = 2_500;
const WORDS = 'storage window a the entry of measured answer in version is kept by'.split(' ');

const NO_COLUMNS = {
  slot: null,
  callNumber: null,
  callIndex: null,
  toolName: null,
  isError: null,
};

/** One conversation in both forms: Holdfast's entries and a session of pi-agent-core. */
export interface PlanningLog {
  readonly outlines: readonly EntryOutline[];
  readonly contents: readonly (readonly ContentPart[])[];
  readonly session: readonly SessionTreeEntry[];
  readonly turnId: string;
  readonly tokens: number;
}

/** So many entries of together about so many tokens, frames included. */
export function planningLog(entries: number, tokens: number): PlanningLog {
  return logOf(entries, charactersFor(tokens / entries));
}

/** Characters of an entry's text for so many tokens, frame included, found on a few entries: estimates are not linear. */
function charactersFor(tokensPerEntry: number): number {
  let characters = 4 * tokensPerEntry;
  for (let pass = 0; pass < 4; pass += 1) {
    const sample = logOf(SAMPLE_ENTRIES, characters);
    characters = Math.max(16, Math.round(characters + 4 * (tokensPerEntry - sample.tokens / SAMPLE_ENTRIES)));
  }
  return characters;
}

function logOf(entries: number, characters: number): PlanningLog {
  const turnId = newId();
  const outlines: EntryOutline[] = [];
  const contents: ContentPart[][] = [];
  const session: SessionTreeEntry[] = [];
  for (let sequence = 1; sequence <= entries; sequence += 1) {
    const id = newId();
    const { columns, content, message } = entryAt(sequence, characters);
    outlines.push(
      toOutline({
        ...NO_COLUMNS,
        ...columns,
        id,
        sequence,
        turnId,
        measurements: measurementsText(measureContent(content)),
      }),
    );
    contents.push(content);
    const parentId = session.at(-1)?.id ?? null;
    session.push({ type: 'message', id, parentId, timestamp: '2026-07-01T00:00:00.000Z', message });
  }
  const total = outlines.reduce((sum, entry) => sum + estimateTokens(entry.measurements, NO_CALIBRATION), 0);
  return { outlines, contents, session, turnId, tokens: total };
}

type Message = Extract<SessionTreeEntry, { type: 'message' }>['message'];

interface EntryForms {
  readonly columns: Pick<OutlineColumns, 'kind'> & Partial<OutlineColumns>;
  readonly content: ContentPart[];
  readonly message: Message;
}

function entryAt(sequence: number, characters: number): EntryForms {
  const place = (sequence - 1) % ENTRIES_PER_TURN;
  const callNumber = Math.floor((sequence - 1) / ENTRIES_PER_TURN) * ENTRIES_PER_TURN + Math.ceil(place / 2);
  const text = prose(characters, sequence);
  const said = [{ type: 'text' as const, text }];
  if (place === 0) {
    return { columns: { kind: 'user' }, content: said, message: { role: 'user', content: said, timestamp: 0 } };
  }
  if (place % 2 === 0) {
    const result = { toolCallId: `call_${callNumber}`, toolName: 'read_file', isError: false };
    return {
      columns: { kind: 'tool_result', callNumber, callIndex: 0, toolName: 'read_file', isError: false },
      content: said,
      message: { role: 'toolResult', content: said, timestamp: 0, ...result },
    };
  }
  const path = { path: `docs/${sequence}.md` };
  const call = { id: `call_${callNumber}`, name: 'read_file' };
  return {
    columns: { kind: 'assistant', callNumber },
    content: [...said, { type: 'tool_call', index: 0, ...call, arguments: JSON.stringify(path) }],
    message: {
      role: 'assistant',
      content: [...said, { type: 'toolCall', ...call, arguments: path }],
      api: 'none',
      provider: 'none',
      model: 'none',
      usage: NO_USAGE,
      stopReason: 'error',
      timestamp: 0,
    },
  };
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
/** Together with the stop reason: the package passes over such usage and estimates from the text, as without reports. */
const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: NO_COST };

function prose(characters: number, seed: number): string {
  let state = seed * 7_919 + 1;
  let text = '';
  while (text.length < characters) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${WORDS[state % WORDS.length] ?? 'a'}${state % 11 === 0 ? '.\n' : ' '}`;
  }
  return text.slice(0, characters);
}

/** The session as the package writes it to its file. */
export function sessionFile({ session }: PlanningLog): string {
  const header = { type: 'session', version: 3, id: 'bench', timestamp: '2026-07-01T00:00:00.000Z', cwd: '/' };
  return [header, ...session].map((line) => JSON.stringify(line)).join('\n');
}

/** The log as the server would have left it, without its triggers and foreign keys, which would take minutes. */
export async function storeLog(sql: Database, log: PlanningLog, template: string): Promise<TurnReference> {
  const conversationId = newId();
  const { turnId } = log;
  await sql.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await insertOwners(open, { template, conversationId, turnId });
    let sums = NO_MEASUREMENTS;
    const rows = log.outlines.map((entry, index) => {
      sums = addMeasurements(sums, entry.measurements);
      return {
        ...entry,
        parent: log.outlines[index - 1]?.id ?? null,
        content: log.contents[index],
        measurements: measurementsText(entry.measurements),
        sums: measurementsText(sums),
      };
    });
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      await open`
        insert into entries (id, conversation_id, sequence, branch, parent_id, kind, turn_id, epoch, call_number,
          model_attempt, call_index, tool_call_count, tool_name, is_error, content, measurements, sums)
        select r.id, ${conversationId}, r.sequence, 0, r.parent, r.kind, ${turnId}, 1, r."callNumber",
          case when r.kind = 'assistant' then 1 end, r."callIndex", case when r.kind = 'assistant' then 1 end,
          r."toolName", r."isError", r.content, r.measurements::measurements, r.sums::measurements
        from json_to_recordset(${JSON.stringify(rows.slice(from, from + ROWS_AT_ONCE))}::text::json) as r (id uuid,
          sequence int, parent uuid, kind text, "callNumber" int, "callIndex" int, "toolName" text, "isError" boolean,
          content json, measurements text, sums text)`;
    }
    const head = log.outlines.at(-1);
    await open`
      update conversations set head_entry_id = ${head?.id ?? null}, last_sequence = ${log.outlines.length}
      where id = ${conversationId}`;
  });
  // What the triggers would have done with the appends.
  await sql`
    select pack_outlines(${conversationId}, block)
    from generate_series(0, ${Math.floor(log.outlines.length / 256) - 1}) as block`;
  await sql`analyze packed_outlines, conversations, turns, entries, branches`;
  return { conversationId, turnId, epoch: 1 };
}
