import { selectAgent } from '../config/configuration.ts';
import type { Configuration } from '../config/configuration.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import type { Database } from '../store/database/database.ts';
import { importRows } from '../store/transfer/import-file.ts';
import type { ConversationSettings } from '../store/messages/messages.ts';
import type { ImportReport } from './read/import-report.ts';
import { readSessionFile } from './read/session-file.ts';
import { SessionAssembler } from './assemble-session.ts';
import type { ImportedRecord, LogRecord } from './assemble-session.ts';
import { sessionRows } from './session-rows.ts';

export interface ImportedSession {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
}

export interface ImportedFile {
  readonly conversations: readonly ImportedSession[];
  readonly report: ImportReport;
}

export interface ImportSessionsRequest {
  readonly file: string;
  readonly configuration: Configuration;
  /** Queue of the workers that go on with the conversations. Default: `agent-turn`. */
  readonly taskQueue?: string;
  /** Name of the agent that goes on with the conversations. */
  readonly agent: string;
  readonly settings: ConversationSettings;
}

const NO_MEMORIES = { agent: null, workspace: null, user: null };

/**
 * Makes a conversation of every session of a file, one after another, each whole or not at all.
 * @throws SessionFileError for the file, ConfigurationError for agent, model or preset
 */
export async function importSessions(database: Database, request: ImportSessionsRequest): Promise<ImportedFile> {
  const { configuration, agent, settings } = request;
  selectAgent(configuration, agent, settings);
  const { records, counter, report } = await readSessionFile(request.file);
  const assembler = new SessionAssembler((problem) => counter.problem(problem));
  const conversations: ImportedSession[] = [];
  for (const session of sessionsOf([...records.flatMap((record) => assembler.add(record)), ...assembler.end()])) {
    const of = { ...definedOf({ taskQueue: request.taskQueue }), agent, settings, memoryScopes: NO_MEMORIES };
    const { conversationId, turns, entries } = await importRows(database, of, sessionRows(session, new Date()));
    conversations.push({ conversationId, turns, entries });
  }
  return { conversations, report: report() };
}

/** The entries of each session that has any. Instructions are the agent's, and a compaction leaves nothing behind. */
function sessionsOf(log: readonly LogRecord[]): readonly (readonly ImportedRecord[])[] {
  const sessions: ImportedRecord[][] = [[]];
  for (const record of log) {
    if (record.kind === 'session') sessions.push([]);
    else if (record.kind !== 'instructions' && record.kind !== 'compacted') sessions.at(-1)?.push(record);
  }
  return sessions.filter(({ length }) => length > 0);
}
