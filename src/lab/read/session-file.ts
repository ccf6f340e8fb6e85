import { open, stat } from 'node:fs/promises';
import { LabError } from '../lab-error.ts';
import type { SessionRecord } from '../session-record.ts';
import { importerFor } from '../importers/importer-for.ts';
import { recordedTime, withTime } from '../importers/recorded-time.ts';
import { formatOf, layoutOf } from './detect-format.ts';
import type { Layout, SessionFormat } from './detect-format.ts';
import { ImportCounter } from './import-report.ts';
import type { ImportReport } from './import-report.ts';
import { readDocument } from './read-document.ts';
import { readLines } from './read-lines.ts';

/** Read to tell layout and kind of a file. Bytes. */
const HEAD_BYTES = 1024 * 1024;
/** Values that may stand before the first one that tells the format. */
const UNDECIDED_VALUES = 200;

const FORMATS =
  'Claude Code, Codex, pi and GitHub Copilot CLI write JSON lines, Gemini CLI a JSON document; message lists of the OpenAI API may be either.';

/** One file of recorded sessions. */
export interface SessionFile {
  readonly file: string;
  readonly bytes: number;
  /**
   * The records in order, each session after a record `session`; call it once. Holds one line or message at a time.
   * @throws LabError `session_format_unknown`, `session_empty`, `session_unreadable`
   */
  records(): AsyncGenerator<SessionRecord>;
  /** Call it after the last record. */
  report(): ImportReport;
  /** For what is found out when records are put together. */
  readonly counter: ImportCounter;
}

/** @throws LabError `session_unreadable`, `session_empty`, `session_binary` */
export async function openSessionFile(file: string): Promise<SessionFile> {
  const { head, bytes } = await readHead(file);
  if (head.includes(0)) {
    throw new LabError(
      'session_binary',
      `${file} is no text: it holds bytes of value 0.`,
      `Name the session file itself, unpacked and in UTF-8. ${FORMATS}`,
    );
  }
  const text = head.toString('utf8');
  if (text.trim() === '') {
    throw new LabError('session_empty', `${file} is empty.`, 'Name a file that holds a recorded session.');
  }
  const layout = layoutOf(text, bytes <= head.length);
  const counter = new ImportCounter();
  let format: SessionFormat | null = null;
  return {
    file,
    bytes,
    counter,
    async *records() {
      try {
        for await (const record of readRecords(file, layout, counter, (found) => (format = found))) {
          counter.records[record.kind] += 1;
          yield record;
        }
      } catch (error) {
        if (error instanceof LabError) throw error;
        throw unreadable(file, error);
      }
      const { user, assistant, tool_result: results } = counter.records;
      if (user + assistant + results === 0) {
        throw new LabError(
          'session_empty',
          `${file} holds no message.`,
          'Name a file in which somebody said something.',
        );
      }
    },
    report: () => counter.report({ file, bytes, format: format ?? 'openai-messages' }),
  };
}

async function readHead(file: string): Promise<{ readonly head: Buffer; readonly bytes: number }> {
  try {
    const status = await stat(file);
    if (status.isDirectory()) throw new LabError('session_unreadable', `${file} is a folder.`, 'Name the files in it.');
    const handle = await open(file, 'r');
    try {
      const buffer = Buffer.alloc(HEAD_BYTES);
      const { bytesRead } = await handle.read(buffer, 0, HEAD_BYTES, 0);
      return { head: buffer.subarray(0, bytesRead), bytes: status.size };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw error instanceof LabError ? error : unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): LabError {
  const reason = error instanceof Error ? error.message : String(error);
  return new LabError(
    'session_unreadable',
    `${file} cannot be read: ${reason}.`,
    'Check the path and its permissions.',
    {
      cause: error,
    },
  );
}

type Value = { readonly value: unknown } | { readonly session: string | null };

async function* readRecords(
  file: string,
  layout: Layout,
  counter: ImportCounter,
  onFormat: (format: SessionFormat) => void,
): AsyncGenerator<SessionRecord> {
  const values = layout.kind === 'lines' ? lineValues(file, counter) : documentValues(file, layout, counter);
  const waiting: Value[] = [];
  let importer = null;
  let begun = false;
  const started = (records: readonly SessionRecord[]): readonly SessionRecord[] => {
    if (begun || records.length === 0) return records;
    begun = true;
    return records[0]?.kind === 'session' ? records : [{ kind: 'session', id: null }, ...records];
  };
  for await (const next of values) {
    waiting.push(next);
    if (importer === null) {
      const format = 'value' in next ? formatOf(next.value) : null;
      if (format === null && waiting.length < UNDECIDED_VALUES) continue;
      if (format === null) throw unknownFormat(file);
      onFormat(format);
      importer = importerFor(format)(counter);
    }
    for (const value of waiting.splice(0)) {
      if ('value' in value) yield* started(withTime(importer.read(value.value), recordedTime(value.value)));
      else yield* started([...importer.end(), { kind: 'session', id: value.session }]);
    }
  }
  if (importer === null) throw unknownFormat(file);
  yield* started(importer.end());
}

function unknownFormat(file: string): LabError {
  return new LabError('session_format_unknown', `${file} is no session of a known format.`, FORMATS);
}

async function* lineValues(file: string, counter: ImportCounter): AsyncGenerator<Value> {
  for await (const line of readLines(file)) {
    if (line.kind === 'too_long') {
      counter.problem('line_too_long', line.number);
      continue;
    }
    const value = parsed(line.text);
    if (value === undefined) counter.problem(line.ended ? 'line_not_json' : 'line_cut_off', line.number);
    else {
      counter.values += 1;
      yield { value };
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

async function* documentValues(
  file: string,
  layout: Extract<Layout, { kind: 'document' }>,
  counter: ImportCounter,
): AsyncGenerator<Value> {
  const elements = readDocument(file, layout.shape);
  for (;;) {
    let next;
    try {
      next = await elements.next();
    } catch {
      counter.problem('document_cut_off');
      return;
    }
    if (next.done === true) return;
    if (next.value.kind === 'conversation') yield { session: next.value.id };
    else {
      counter.values += 1;
      yield { value: next.value.value };
    }
  }
}
