import type { RecallFilter } from '../../tools/tool.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { agentMark, conversationMark, languageMark } from './passage-terms.ts';
import type { AgentOfTenant } from './passage-terms.ts';
import { FALLBACK_LANGUAGE, LANGUAGES } from './stems.ts';
import type { Language } from './stems.ts';

export interface SearchedScope extends AgentOfTenant {
  /** `null`: all conversations of the agent. */
  readonly conversationId: string | null;
  readonly mark: string;
  readonly passages: number;
  /** Passages of the agent, of which `term_frequencies` counts. */
  readonly ofAgent: number;
  readonly languages: readonly Language[];
}

/** `null`: nothing of it is indexed. */
export async function openScope(
  sql: Queries,
  { tenant, agent, conversationId }: AgentOfTenant & { readonly conversationId: string | null },
): Promise<SearchedScope | null> {
  const ofAgent = agentMark({ tenant, agent });
  const mark = conversationId === null ? ofAgent : conversationMark(conversationId);
  const counts = await frequenciesOf(sql, { tenant, agent }, [ofAgent, mark, ...LANGUAGES.map(languageMark)]);
  const passages = counts.get(mark) ?? 0;
  if (passages === 0) return null;
  const languages = LANGUAGES.filter((language) => counts.has(languageMark(language)));
  return {
    conversationId,
    tenant,
    agent,
    mark,
    passages,
    ofAgent: counts.get(ofAgent) ?? passages,
    languages: languages.length === 0 ? [FALLBACK_LANGUAGE] : languages,
  };
}

export async function frequenciesOf(
  sql: Queries,
  { tenant, agent }: AgentOfTenant,
  terms: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ term: string; passages: number }[]>`
    select term, passages from term_frequencies
    where tenant = ${tenant} and agent = ${agent} and term = any(${[...terms]}::text[]) and passages > 0`;
  return new Map(rows.map(({ term, passages }) => [term, passages]));
}

/** Condition on `passages p`. */
export function isWanted(sql: Queries, { kinds, after, before }: RecallFilter): Fragment {
  return sql`
    ${kinds === undefined ? sql`` : sql`and p.kind = any(${[...kinds]})`}
    ${after === undefined ? sql`` : sql`and p.said_at >= ${after}`}
    ${before === undefined ? sql`` : sql`and p.said_at < ${before}`}`;
}
