import type { RecallPassage } from '../tools/tool.ts';
import type { Database } from './database.ts';

export type PassageKind = 'user' | 'assistant' | 'tool_result' | 'note' | 'branch_summary' | 'summary';

export interface MemoryQuery {
  readonly conversationId: string;
  readonly query: string;
  /** Default 10, at most 100. */
  readonly limit?: number;
  /** Default: all. */
  readonly kinds?: readonly PassageKind[];
  /** Tools whose results are not searched: a search must not find earlier searches. */
  readonly excludeTools?: readonly string[];
}

/** `entryId` is the compaction's id for a passage of a summary. */
export interface FoundPassage extends RecallPassage {
  readonly kind: PassageKind;
  readonly sequence: number | null;
  readonly score: number;
  /** Why it is listed: exact phrase or identifier, words, or likeness of letters. */
  readonly match: 'phrase' | 'words' | 'similar';
}

/**
 * Ranked passages over originals, summaries, notes and tool results of a conversation; all its
 * branches. Indexes first what was appended since the last search.
 */
export async function searchMemory(_sql: Database, _query: MemoryQuery): Promise<FoundPassage[]> {
  throw new Error('unwritten');
}

/** Indexes entries and summaries that are not yet; returns how many passages were written. Safe to run at once from many processes. */
export async function indexConversation(
  _sql: Database,
  _conversationId: string,
): Promise<{ readonly passages: number }> {
  throw new Error('unwritten');
}
