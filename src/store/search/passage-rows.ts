import type { Fragment, Queries } from '../database.ts';
import type { Candidate } from './candidate.ts';
import type { PassageKind } from './found-passage.ts';

/** What every search reads of a passage, whatever it reads of its text. */
export interface PassageHeadRow {
  readonly conversation_id: string;
  readonly source_id: string;
  readonly kind: PassageKind;
  readonly sequence: number | null;
  readonly tool_name: string | null;
  readonly path: string | null;
  readonly character_offset: number;
  readonly words: number;
  readonly created_at: Date;
}

/** Columns of `PassageHeadRow`, of passages that the query calls `p`. */
export function headColumns(sql: Queries): Fragment {
  return sql`p.conversation_id, p.source_id, p.kind, p.sequence, p.tool_name, p.path, p.character_offset, p.words, p.created_at`;
}

export function headOf(row: PassageHeadRow): Omit<Candidate, 'text' | 'vector' | 'gathered'> {
  return {
    conversationId: row.conversation_id,
    sourceId: row.source_id,
    kind: row.kind,
    sequence: row.sequence,
    toolName: row.tool_name,
    path: row.path,
    offset: row.character_offset,
    words: row.words,
    createdAt: row.created_at,
  };
}
