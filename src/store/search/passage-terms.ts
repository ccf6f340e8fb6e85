import type { RecallKind } from '../../tools/tool.ts';
import { createHash } from 'node:crypto';
import { dateTermsOf, timeTermsOf } from './dates.ts';
import type { Language, Stem } from './stems.ts';
import type { Word } from './words.ts';

export interface AgentOfTenant {
  readonly tenant: string;
  readonly agent: string;
}

/** Terms that are no words begin with `@`, which no word does. This one marks all passages of an agent; its frequency is how many the agent has. */
export function agentMark({ tenant, agent }: AgentOfTenant): string {
  return `@a${createHash('sha256')
    .update(JSON.stringify([tenant, agent]))
    .digest('base64url')
    .slice(0, 12)}`;
}

export function conversationMark(conversationId: string): string {
  return `@c${conversationId.replaceAll('-', '')}`;
}

export function languageMark(language: Language): string {
  return `@l${language}`;
}

export function kindMark(kind: RecallKind): string {
  return `@k${kind}`;
}

/** A word of the path of the file that a passage is of: it counts beside words of the text, and finds nothing by itself. */
export function pathTerm(term: string): string {
  return `@p${term}`;
}

export interface IndexedText {
  readonly text: string;
  readonly words: readonly Word[];
  readonly language: Language;
  readonly saidAt: Date;
  readonly pathWords: readonly Word[];
}

/** What a passage is found by: its words by their stems, the words of its file, dates, and marks of the scope. */
export function passageTerms(
  { text, words, language, saidAt, pathWords }: IndexedText,
  stems: ReadonlyMap<string, Stem>,
  marks: readonly string[],
): ReadonlySet<string> {
  const terms = new Set([...marks, languageMark(language), ...timeTermsOf(saidAt), ...dateTermsOf(text, saidAt)]);
  for (const { text: word } of words) terms.add(stems.get(word)?.term ?? word);
  for (const { text: word } of pathWords) terms.add(pathTerm(stems.get(word)?.term ?? word));
  return terms;
}

export function toVector(terms: Iterable<string>): string {
  return Array.from(terms, quoteTerm).join(' ');
}

/** A lexeme as tsvector and tsquery understand it, whatever characters it has. */
function quoteTerm(term: string): string {
  const isPlain = !term.includes("'") && !term.includes('\\');
  return isPlain ? `'${term}'` : `'${term.replaceAll(/['\\]/gu, String.raw`$&$&`)}'`;
}

export function anyOf(terms: readonly string[]): string {
  return `(${terms.map(quoteTerm).join(' | ')})`;
}

export function allOf(queries: readonly string[]): string {
  return queries.join(' & ');
}
