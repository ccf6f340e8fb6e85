import { open, stat } from 'node:fs/promises';
import { SessionFileError } from '../session-error.ts';
import type { SessionRecord } from '../session-record.ts';
import { FORMATS } from '../importers/formats.ts';
import { recordedTime, withTime } from '../importers/recorded-time.ts';
import type { SessionFormat } from './detect-format.ts';
import { ImportCounter } from './import-report.ts';
import type { ImportReport } from './import-report.ts';
import { readValues } from './read-values.ts';
import type { FileHead } from './read-values.ts';

/** Read to tell layout and kind of a file. Bytes. */
const HEAD_BYTES = 1024 * 1024;
/** One file of recorded sessions. */
export interface SessionFile {
  readonly file: string;
  readonly bytes: number;
  /**
   * The records in order, each session after a record `session`; call it once. Holds one line or message at a time.
   * @throws SessionFileError `session_format_unknown`, `session_empty`, `session_unreadable`
   */
  records(): AsyncGenerator<SessionRecord>;
  /** Call it after the last record. */
  report(): ImportReport;
  /** For what is found out when records are put together. */
  readonly counter: ImportCounter;
}

/** @throws SessionFileError `session_unreadable`, `session_empty` */
export async function openSessionFile(file: string): Promise<SessionFile> {
  const { head, bytes } = await readHead(file);
  const text = head.toString('utf8');
  if (text.trim() === '') {
    throw new SessionFileError('session_empty', `${file} is empty.`, 'Name a file that holds a recorded session.');
  }
  const counter = new ImportCounter();
  let format: SessionFormat | null = null;
  return {
    file,
    bytes,
    counter,
    async *records() {
      try {
        for await (const record of readRecords(file, { text, bytes }, counter, (found) => (format = found))) {
          counter.records[record.kind] += 1;
          yield record;
        }
      } catch (error) {
        throw head.includes(0) && isUnknown(error)
          ? binary(file)
          : error instanceof SessionFileError
            ? error
            : unreadable(file, error);
      }
      const { user, assistant, tool_result: results } = counter.records;
      if (user + assistant + results === 0) {
        throw new SessionFileError(
          'session_empty',
          `${file} holds no message.`,
          'Name a file in which somebody said something.',
        );
      }
    },
    report: () => counter.report({ file, bytes, format: format ?? 'openai-messages' }),
  };
}

/** Text may hold bytes of value 0 where a disk lost some of it; a file in which nothing is readable is none. */
function isUnknown(error: unknown): boolean {
  return error instanceof SessionFileError && error.code === 'session_format_unknown';
}

function binary(file: string): SessionFileError {
  return new SessionFileError(
    'session_binary',
    `${file} is no text: it holds bytes of value 0, and no session.`,
    'Name the session file itself, unpacked and in UTF-8.',
  );
}

async function readHead(file: string): Promise<{ readonly head: Buffer; readonly bytes: number }> {
  try {
    const status = await stat(file);
    if (status.isDirectory())
      throw new SessionFileError('session_unreadable', `${file} is a folder.`, 'Name the files in it.');
    const handle = await open(file, 'r');
    try {
      const buffer = Buffer.alloc(HEAD_BYTES);
      const { bytesRead } = await handle.read(buffer, 0, HEAD_BYTES, 0);
      return { head: buffer.subarray(0, bytesRead), bytes: status.size };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw error instanceof SessionFileError ? error : unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): SessionFileError {
  const reason = error instanceof Error ? error.message : String(error);
  return new SessionFileError(
    'session_unreadable',
    `${file} cannot be read: ${reason}.`,
    'Check the path and its permissions.',
    {
      cause: error,
    },
  );
}

async function* readRecords(
  file: string,
  head: FileHead,
  counter: ImportCounter,
  onFormat: (format: SessionFormat) => void,
): AsyncGenerator<SessionRecord> {
  const read = await readValues(file, head, counter);
  onFormat(read.format);
  const importer = FORMATS[read.format].importer(counter);
  let begun = false;
  const started = (records: readonly SessionRecord[]): readonly SessionRecord[] => {
    if (begun || records.length === 0) return records;
    begun = true;
    return records[0]?.kind === 'session' ? records : [{ kind: 'session', id: null }, ...records];
  };
  for await (const next of read.values()) {
    if ('session' in next) yield* started([...importer.end(), { kind: 'session', id: next.session }]);
    else yield* started(withTime(importer.read(next.value), recordedTime(next.value)));
  }
  yield* started(importer.end());
}
