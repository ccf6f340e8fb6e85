import type { ContentPart } from 'holdfast/internal/context/log/content.js';
import type { EntryOutline } from 'holdfast/internal/context/log/entry.js';
import { measureContent } from 'holdfast/internal/context/log/measure.js';
import type { ImportReport } from 'holdfast/internal/import/read/import-report.js';
import { readSessionFile } from 'holdfast/internal/import/read/session-file.js';
import { SessionAssembler } from 'holdfast/internal/import/assemble-session.js';
import type { LogRecord } from 'holdfast/internal/import/assemble-session.js';
import { ContentFile } from './content-file.ts';
import type { ContentPlace } from './content-file.ts';

/** One entry of a recorded session: its sizes here, its content on disk. */
export type LabEntry = Omit<EntryOutline, 'id' | 'sequence' | 'turnId'> & {
  readonly turn: number;
  /** Of an answer. */
  readonly toolCallCount?: number;
  readonly place: ContentPlace;
  readonly hasReasoning: boolean;
};

/** A recorded session, ready to be replayed any number of times. */
export interface LabSession {
  /** File and, when it holds several, the number of the session in it. */
  readonly label: string;
  /** What the recording agent was told beside the entries when it answered at this position; `null`: the file does not say. */
  instructionsAt(position: number): string | null;
  /** Models that answered, as the file names them, the one with most answers first. */
  readonly models: readonly string[];
  readonly entries: readonly LabEntry[];
  /** The original of an entry, by its position. */
  content(position: number): readonly ContentPart[];
}

export interface LoadedFile {
  readonly sessions: readonly LabSession[];
  readonly report: ImportReport;
  /** Deletes the contents on disk. */
  close(): void;
}

interface OpenSession {
  readonly id: string | null;
  /** In force, by slot. */
  readonly instructions: Map<string, string>;
  /** What was in force from a position on. */
  readonly instructed: { readonly from: number; readonly text: string }[];
  readonly models: Map<string, number>;
  readonly entries: LabEntry[];
}

/** Reads a file of recorded sessions. @throws SessionFileError for a file that the lab cannot work with */
export async function loadSessions(file: string): Promise<LoadedFile> {
  const opened = await readSessionFile(file);
  const contents = new ContentFile();
  try {
    const sessions: OpenSession[] = [];
    const assembler = new SessionAssembler((problem) => opened.counter.problem(problem));
    const keep = (record: LogRecord): void => {
      if (record.kind === 'session') sessions.push(emptySession(record.id));
      else if (sessions.length > 0) addRecord(sessions[sessions.length - 1] ?? emptySession(null), record, contents);
    };
    for (const record of opened.records) assembler.add(record).forEach(keep);
    assembler.end().forEach(keep);
    const spoken = sessions.filter(({ entries }) => entries.length > 0);
    return {
      sessions: spoken.map((session, index) =>
        closeSession(session, spoken.length === 1 ? file : `${file} #${index + 1}`, contents),
      ),
      report: opened.report(),
      close: () => contents.close(),
    };
  } catch (error) {
    contents.close();
    throw error;
  }
}

function emptySession(id: string | null): OpenSession {
  return { id, instructions: new Map(), instructed: [], models: new Map(), entries: [] };
}

function addRecord(session: OpenSession, record: Exclude<LogRecord, { kind: 'session' }>, contents: ContentFile): void {
  switch (record.kind) {
    case 'instructions':
      if (session.instructions.get(record.slot) === record.text) return;
      session.instructions.set(record.slot, record.text);
      session.instructed.push({ from: session.entries.length, text: [...session.instructions.values()].join('\n\n') });
      return;
    case 'compacted':
      return;
    case 'user':
      session.entries.push({ kind: 'user', turn: record.turn, ...measured(record.content, contents) });
      return;
    case 'assistant': {
      const { turn, callNumber, content, model } = record;
      if (model !== undefined) session.models.set(model, (session.models.get(model) ?? 0) + 1);
      const toolCallCount = content.filter((part) => part.type === 'tool_call').length;
      session.entries.push({
        kind: 'assistant',
        turn,
        callNumber,
        toolCallCount,
        ...measured(content, contents),
      });
      return;
    }
    case 'tool_result': {
      const { turn, callNumber, callIndex, toolName, outcome, content } = record;
      const isError = outcome !== 'succeeded';
      const result = { kind: 'tool_result' as const, turn, callNumber, callIndex, toolName, isError };
      session.entries.push({ ...result, ...measured(content, contents) });
    }
  }
}

function measured(
  content: readonly ContentPart[],
  contents: ContentFile,
): Pick<LabEntry, 'measurements' | 'place' | 'hasReasoning'> {
  return {
    measurements: measureContent(content),
    place: contents.append(content),
    hasReasoning: content.some((part) => part.type === 'thinking'),
  };
}

function closeSession(session: OpenSession, label: string, contents: ContentFile): LabSession {
  const { instructed, models, entries } = session;
  return {
    label,
    instructionsAt: (position) => instructed.findLast(({ from }) => from <= position)?.text ?? null,
    models: [...models].sort((left, right) => right[1] - left[1]).map(([name]) => name),
    entries,
    content(position) {
      const entry = entries[position];
      if (entry === undefined) throw new RangeError(`the session has ${entries.length} entries, not ${position + 1}`);
      return contents.read(entry.place);
    },
  };
}
