import { stat } from 'node:fs/promises';
import { SessionFileError } from '../session-error.ts';
import type { SessionRecord } from '../session-record.ts';
import { FORMATS } from '../importers/formats.ts';
import { recordedTime, withTime } from '../importers/recorded-time.ts';
import { ImportCounter } from './import-report.ts';
import type { ImportReport } from './import-report.ts';
import { readValues } from './read-values.ts';
import type { ReadValues } from './read-values.ts';

/** One file of recorded sessions, in memory. */
export interface SessionFile {
  /** In order, each session after a record `session`. */
  readonly records: readonly SessionRecord[];
  /** Call it when the records were put together. */
  readonly report: () => ImportReport;
  /** For what is found out when records are put together. */
  readonly counter: ImportCounter;
}

/** @throws SessionFileError */
export async function readSessionFile(file: string): Promise<SessionFile> {
  const counter = new ImportCounter();
  try {
    const { size: bytes } = await stat(file);
    const read = await readValues(file, bytes, counter);
    const records = recordsOf(read, counter);
    for (const { kind } of records) counter.records[kind] += 1;
    const { user, assistant, tool_result: results } = counter.records;
    if (user + assistant + results === 0) {
      throw new SessionFileError(
        'session_empty',
        `${file} holds no message.`,
        'Name a file in which somebody said something.',
      );
    }
    return { records, counter, report: () => counter.report({ file, bytes, format: read.format }) };
  } catch (error) {
    throw error instanceof SessionFileError ? error : unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): SessionFileError {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `${file} cannot be read: ${reason}.`;
  return new SessionFileError('session_unreadable', message, 'Check the path and its permissions.', { cause: error });
}

function recordsOf({ format, values }: ReadValues, counter: ImportCounter): SessionRecord[] {
  const importer = FORMATS[format].importer(counter);
  const records: SessionRecord[] = [];
  const add = (read: readonly SessionRecord[]): void => {
    if (records.length === 0 && read.length > 0 && read[0]?.kind !== 'session')
      records.push({ kind: 'session', id: null });
    for (const record of read) records.push(record);
  };
  for (const next of values) {
    if ('session' in next) add([...importer.end(), { kind: 'session', id: next.session }]);
    else add(withTime(importer.read(next.value), recordedTime(next.value)));
  }
  add(importer.end());
  return records;
}
