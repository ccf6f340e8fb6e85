import { createHash } from 'node:crypto';
import type { RecallFilter } from '../../tools/tool.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { FALLBACK_LANGUAGE, LANGUAGES } from './stems.ts';
import type { Language } from './stems.ts';

export interface AgentOfTenant {
  readonly tenant: string;
  readonly agent: string;
}

/**
 * Terms that are no words begin with `@`, which no word does. All but dates (`@2026-03-05`) begin with one of these. A word of the path
 * of the file that a passage is of counts beside words of the text, and finds nothing by itself.
 */
export const MARKS = { agent: '@a', conversation: '@c', kind: '@k', language: '@l', path: '@p' } as const;

/** Stands in all passages of an agent: its frequency is how many the agent has. */
export function agentMark({ tenant, agent }: AgentOfTenant): string {
  const hash = createHash('sha256').update(JSON.stringify([tenant, agent]));
  return `${MARKS.agent}${hash.digest('base64url').slice(0, 12)}`;
}

/** A lexeme as tsvector and tsquery understand it, whatever characters it has. */
export function quoteTerm(term: string): string {
  const isPlain = !term.includes("'") && !term.includes('\\');
  return isPlain ? `'${term}'` : `'${term.replaceAll(/['\\]/gu, String.raw`$&$&`)}'`;
}

export function anyOf(terms: readonly string[]): string {
  return `(${terms.map(quoteTerm).join(' | ')})`;
}

/** Pattern of LIKE for what has the text in it. */
export function likePart(text: string): string {
  return `%${text.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
}

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
  of: AgentOfTenant & { readonly conversationId: string | null },
): Promise<SearchedScope | null> {
  const ofAgent = agentMark(of);
  const mark = of.conversationId === null ? ofAgent : `${MARKS.conversation}${of.conversationId}`;
  const ofLanguage = (language: Language): string => `${MARKS.language}${language}`;
  const counts = await frequenciesOf(sql, of, [ofAgent, mark, ...LANGUAGES.map(ofLanguage)]);
  const passages = counts.get(mark);
  if (passages === undefined) return null;
  const languages = LANGUAGES.filter((language) => counts.has(ofLanguage(language)));
  return {
    ...of,
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
