import type { Queries } from '../database.ts';
import { agentTerm, conversationTerm } from './passage-terms.ts';

/** What a search looks through. */
export interface SearchedScope {
  /** The term that all its passages have. */
  readonly term: string;
  /** Conversations whose statistics stand for all: the largest ones. */
  readonly numbers: readonly number[];
  readonly passages: number;
  /** Passages of the conversations in `numbers`. */
  readonly countedPassages: number;
  /** Words of a passage on average. */
  readonly averageWords: number;
  readonly languages: readonly string[];
}

/** Conversations of an agent whose statistics are read: more change the weights little and take longer. */
const COUNTED_CONVERSATIONS = 100;

interface ProgressRow {
  readonly number: number;
  readonly passages: number;
  readonly words: string;
  readonly languages: string[];
}

/** One conversation; `null` when nothing of it is indexed. */
export async function conversationScope(sql: Queries, conversationId: string): Promise<SearchedScope | null> {
  const rows = await sql<ProgressRow[]>`
    select number, passages, words, languages from search_progress
    where conversation_id = ${conversationId} and passages > 0`;
  const [row] = rows;
  return row === undefined ? null : toScope(conversationTerm(row.number), rows, row.passages);
}

/** All conversations of an agent; `null` when nothing of them is indexed. */
export async function agentScope(sql: Queries, agent: string): Promise<SearchedScope | null> {
  const rows = await sql<(ProgressRow & { readonly total: string })[]>`
    select p.number, p.passages, p.words, p.languages, sum(p.passages) over () as total
    from search_progress p join conversations c on c.id = p.conversation_id
    where c.agent = ${agent} and p.passages > 0 order by p.passages desc, p.number limit ${COUNTED_CONVERSATIONS}`;
  const [largest] = rows;
  return largest === undefined ? null : toScope(agentTerm(agent), rows, Number(largest.total));
}

function toScope(term: string, rows: readonly ProgressRow[], passages: number): SearchedScope {
  const countedPassages = rows.reduce((sum, row) => sum + row.passages, 0);
  const words = rows.reduce((sum, row) => sum + Number(row.words), 0);
  return {
    term,
    numbers: rows.map(({ number }) => number),
    passages,
    countedPassages,
    averageWords: Math.max(1, words / countedPassages),
    languages: [...new Set(rows.flatMap(({ languages }) => languages))],
  };
}
