import { NO_MEASUREMENTS } from '../context/log/measurements.ts';
import { newId } from '../store/database/ids.ts';
import { measurementsText } from '../store/log/measurement-columns.ts';
import type { FileRow } from '../store/transfer/conversation-file.ts';
import type { ImportedRecord } from './assemble-session.ts';

const NO_BEGINNING = { content: [{ type: 'text', text: '[The recording begins with an answer.]' }] } as const;

/**
 * A recorded session as the rows of a file of `holdfast export`. An entry has the time of its record, never one before that of the entry
 * before it. A record without a time, or with one that lies ahead, counts as said right after the one before it; before any time is known,
 * at the import.
 */
export async function* sessionRows(recorded: readonly ImportedRecord[], importedAt: Date): AsyncGenerator<FileRow> {
  const [first] = recorded;
  // A model is asked at an entry; a recording that begins with an answer has none.
  const beginning =
    first?.kind === 'assistant' ? [{ kind: 'user', turn: first.turn, at: first.at, ...NO_BEGINNING } as const] : [];
  const entries: Record<string, unknown>[] = [];
  let latest: Date | null = null;
  for (const { at, ...record } of [...beginning, ...recorded]) {
    if (at !== undefined && at <= importedAt && (latest === null || at > latest)) latest = at;
    const place = { sequence: entries.length + 1, branch: 0, parentId: entries.at(-1)?.['id'] ?? null };
    entries.push({ ...record, ...place, id: newId(), at: (latest ?? importedAt).toISOString() });
  }
  const conversation = {
    id: newId(),
    branch: 0,
    headEntryId: entries.at(-1)?.['id'],
    compactionsOver: 0,
    compactionId: null,
    viewOffset: measurementsText(NO_MEASUREMENTS),
  };
  yield { table: 'conversations', row: conversation, line: 1 };
  yield* entries.map((row, index) => ({ table: 'entries', row, line: index + 2 }));
}
