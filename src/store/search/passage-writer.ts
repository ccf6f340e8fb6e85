import { readableTexts } from '../../context/log/readable-text.ts';
import type { Transaction } from '../database/database.ts';
import { jsonText, plainText } from '../log/stored-text.ts';
import { withoutEncodedBytes } from './encoded-bytes.ts';
import { ASKS, headingOf } from './passage-text.ts';
import { dateTermsOf, timeTermsOf } from './dates.ts';
import type { ReadPassage } from './read-passages.ts';
import { agentMark, MARKS, quoteTerm } from './scope.ts';
import type { AgentOfTenant } from './scope.ts';
import { languageOf, stemsOf } from './stems.ts';
import type { Language, StemOf } from './stems.ts';
import { wordsOf } from './words.ts';
import type { Word } from './words.ts';

/** Characters of a passage: a few sentences, so that a hit says what it is about and costs little to show. */
export const PASSAGE_CHARACTERS = 1_000;

type Passage = Pick<ReadPassage, 'offset' | 'text'>;

/** Cuts a text into passages at line ends or spaces where there are any; nothing is left out but blank passages. */
export function splitPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  let start = 0;
  while (start < text.length) {
    const end = passageEnd(text, start);
    const piece = text.slice(start, end);
    if (piece.trim() !== '') passages.push({ offset: start, text: piece });
    start = end;
  }
  return passages;
}

/** Up to the last line end, space, or mark: no identifier is cut that has letters, digits, `_` and `-` alone. */
const UP_TO_BREAK = [/^.*\n/su, /^.* /su, /^.*[^\p{L}\p{N}\p{M}\p{Cs}\p{Cf}_-]/su];

/** At the last break in the second half of the passage, else in mid-word but never inside a pair of surrogates. */
function passageEnd(text: string, start: number): number {
  const limit = start + PASSAGE_CHARACTERS;
  if (limit >= text.length) return text.length;
  const earliest = start + PASSAGE_CHARACTERS / 2;
  // Looked for here alone: in a text of one line the whole beginning would be searched for each passage.
  const half = text.slice(earliest, limit);
  for (const pattern of UP_TO_BREAK) {
    const [upToBreak] = pattern.exec(half) ?? [];
    if (upToBreak !== undefined) return earliest + upToBreak.length;
  }
  const splitsPair = (text.codePointAt(limit - 1) ?? 0) > 0xff_ff;
  return splitsPair ? limit - 1 : limit;
}

/** Passages of one statement: cutting more into words would leave the transaction idle for longer than the server allows. */
const PASSAGES_PER_INSERT = 250;
/** Characters that are indexed of one original. Indexing these takes seconds; the longest original would take half a minute. */
export const INDEXED_CHARACTERS = 4_000_000;

export interface Source extends Pick<
  ReadPassage,
  'sourceId' | 'kind' | 'sequence' | 'toolName' | 'path' | 'createdAt'
> {
  /** Said by user or agent to each other, so that neighbours count for each other. */
  readonly isTalk: boolean;
}

/** One text in chunks: JSON, or not, as a whole. */
type ChunkedText = Iterable<string> | AsyncIterable<string>;

export interface IndexedConversation extends AgentOfTenant {
  readonly id: string;
  readonly talkPassages: number;
}

export interface CutPassage extends Passage {
  readonly source: Source;
  readonly saidAt: Date;
  readonly language: Language;
  readonly pathWords: readonly Word[];
}

/**
 * Cuts the texts of a source into passages as they read. Offsets are those of the original, escapes of JSON included.
 * @returns with how many of its characters were read
 */
export async function cutSource(
  source: Source,
  texts: readonly ChunkedText[],
): Promise<{ readonly passages: readonly CutPassage[]; readonly characters: number }> {
  const read: string[] = [];
  let left = INDEXED_CHARACTERS;
  for (const chunks of texts) {
    let original = '';
    for await (const chunk of chunks) {
      original += chunk.slice(0, left);
      left = Math.max(0, left - chunk.length);
      if (left === 0) break;
    }
    read.push(original);
  }
  const { text, originalOffset } = readableTexts(read);
  const pathWords = source.path === null ? [] : wordsOfPath(source.path);
  const shared = { source, pathWords, language: languageOf(text), saidAt: saidAtOf(source, text) };
  const passages = splitPassages(text).map((passage) =>
    Object.assign({}, shared, { offset: originalOffset(passage.offset), text: plainText(passage.text) }),
  );
  return { passages, characters: originalOffset(text.length) };
}

/** @returns the next place of the talk */
export async function writePassages(
  sql: Transaction,
  conversation: IndexedConversation,
  passages: readonly CutPassage[],
): Promise<number> {
  const marks = [agentMark(conversation), `${MARKS.conversation}${conversation.id}`];
  const frequencies = new Map<string, number>();
  let next = conversation.talkPassages;
  for (let first = 0; first < passages.length; first += PASSAGES_PER_INSERT) {
    const cut = passages
      .slice(first, first + PASSAGES_PER_INSERT)
      .map((passage) => Object.assign({}, passage, { words: wordsOf(withoutEncodedBytes(passage.text)) }));
    const stemOf = await stemsOf(
      sql,
      cut.map(({ language, words, pathWords }) => [language, [...words, ...pathWords]] as const),
    );
    const rows = cut.map((passage) => {
      const { source, text, offset, saidAt, words } = passage;
      const terms = new Set([...marks, ...termsOf(passage, stemOf)]);
      for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
      const place = source.isTalk ? next : null;
      if (place !== null) next += 1;
      const vector = Array.from(terms, quoteTerm).join(' ');
      const length = words.at(-1)?.position ?? 0;
      return Object.assign({}, source, { text, offset, saidAt, vector, place, length, asks: ASKS.test(text) });
    });
    await sql`
      insert into passages (conversation_id, source_id, kind, sequence, tool_name, path, character_offset, text, terms,
        words, place, is_question, created_at, said_at)
      select ${conversation.id}, "sourceId", kind, sequence, "toolName", path, "offset", text, vector,
        length, place, asks, "createdAt", "saidAt"
      from json_to_recordset(${jsonText(rows)}::text::json) as r (
        "sourceId" uuid, kind text, sequence integer, "toolName" text, path text, "offset" integer, text text,
        vector tsvector, length integer, place integer, asks boolean, "createdAt" timestamptz, "saidAt" timestamptz)`;
  }
  // Last and in order of terms: all conversations of an agent share these rows.
  await sql`
    insert into term_frequencies as f (tenant, agent, term, passages)
    select ${conversation.tenant}, ${conversation.agent}, t.key, t.value::integer
    from json_each_text(${jsonText(Object.fromEntries(frequencies))}::text::json) as t order by t.key
    on conflict (tenant, agent, term) do update set passages = f.passages + excluded.passages`;
  return next;
}

/** What a passage is found by: its words by their stems, the words of its file, dates, and marks of kind and language. */
function termsOf(
  { source, text, words, pathWords, language, saidAt }: CutPassage & { readonly words: readonly Word[] },
  stemOf: StemOf,
): readonly string[] {
  return [
    `${MARKS.kind}${source.kind}`,
    `${MARKS.language}${language}`,
    ...timeTermsOf(saidAt),
    ...dateTermsOf(text, saidAt),
    ...words.map((word) => stemOf(language, word).term),
    ...pathWords.map((word) => `${MARKS.path}${stemOf(language, word).term}`),
  ];
}

/** Words by which somebody may ask for a file: the path, the names in it and the file's without its ending, with their parts. */
function wordsOfPath(path: string): Word[] {
  const names = path.split(/[/\\]+/u);
  const bare = (names.at(-1) ?? '').replace(/(?<=.)\.[^.]*$/u, '');
  return [path, ...names, bare].flatMap((name) => wordsOf(name));
}

/**
 * The day that the heading of a message names, if that is no later than the message itself. A tool's output that begins with a time is a
 * log or a file.
 */
function saidAtOf({ kind, createdAt }: Source, text: string): Date {
  const { saidAt } = headingOf(text);
  const isMessage = kind === 'user' || kind === 'assistant';
  return isMessage && saidAt !== null && saidAt <= createdAt ? saidAt : createdAt;
}
