import type { ToolCallOutcome } from '../attempts/tool-call-rows.ts';
import type { Database } from '../database/database.ts';
import { LogRecorder } from '../log/record-log.ts';
import type { RecordedConversation, RecordedEntry } from '../log/record-log.ts';
import { writeEvents } from '../database/transaction.ts';

/** `at`: when it was said, becomes the entry's time (`entryTime`). Default: the recording does not say. */
type Said = Pick<RecordedEntry, 'turn' | 'content'> & { readonly at?: Date };
type OfCall = Said & { readonly callNumber: number };

/** One record of a conversation that took place elsewhere, in order. */
export type ImportedRecord =
  | (Said & { readonly kind: 'user' })
  | (OfCall & { readonly kind: 'assistant'; readonly model?: string })
  | (OfCall & {
      readonly kind: 'tool_result';
      readonly callIndex: number;
      readonly toolName: string;
      readonly outcome: ToolCallOutcome;
    });

/** `snapshot`: of the agent as it is configured now; a turn that goes on with the conversation freezes its own. */
export interface ImportRequest extends RecordedConversation {
  readonly records: Iterable<ImportedRecord>;
}

const NO_BEGINNING = { content: [{ type: 'text', text: '[The recording begins with an answer.]' }] } as const;

/**
 * Makes a conversation of recorded entries, whole or not at all. Turns end as `completed`; model calls keep the recorded model and no
 * usage: nothing was paid here. Messages and entries have the times of the recording; turns, events and `active_at` have that of the
 * import, from which retention counts.
 */
export async function importConversation(
  sql: Database,
  request: ImportRequest,
): Promise<{ readonly turns: number; readonly entries: number }> {
  return writeEvents(sql, request.conversationId, async (source) => {
    const recorder = new LogRecorder(source, request);
    await recorder.begin();
    const [clock] = await source.sql<{ now: Date }[]>`select holdfast_now() as now`;
    const importedAt = clock?.now ?? new Date();
    let latest: Date | null = null;
    let entries = 0;
    for (const record of request.records) {
      const time: Date = entryTime(record.at, { latest, importedAt });
      if (record.at !== undefined && record.at <= importedAt) latest = time;
      const at = time.toISOString();
      // A model is asked at an entry; a recording that begins with an answer has none.
      if (entries === 0 && record.kind === 'assistant')
        await recorder.record({ kind: 'user', turn: record.turn, ...NO_BEGINNING, at });
      await recorder.record({ ...record, at });
      entries += 1;
    }
    await recorder.finish();
    return { turns: recorder.turns, entries };
  });
}

/**
 * The time of an imported entry: as recorded, never before that of the entry before it. A record without a time, or with one that lies
 * ahead, counts as said right after the one before it; before any time is known, at the import.
 */
export function entryTime(
  recorded: Date | undefined,
  { latest, importedAt }: { readonly latest: Date | null; readonly importedAt: Date },
): Date {
  if (recorded === undefined || recorded > importedAt) return latest ?? importedAt;
  return latest !== null && recorded < latest ? latest : recorded;
}
