import { ReadableTextReader } from '../../context/log/readable-text.ts';
import type { Transaction } from '../database/database.ts';
import { plainText } from '../log/stored-text.ts';
import { withoutEncodedBytes } from './encoded-bytes.ts';
import { headingOf } from './passage-text.ts';
import { agentMark, conversationMark, kindMark, passageTerms, toVector } from './passage-terms.ts';
import type { AgentOfTenant } from './passage-terms.ts';
import type { ReadPassage } from './read-passages.ts';
import { languageOf, stemsOf } from './stems.ts';
import type { Language, Stem } from './stems.ts';
import { wordsOf } from './words.ts';
import type { Word } from './words.ts';

/** Characters of a passage: a few sentences, so that a hit says what it is about and costs little to show. */
export const PASSAGE_CHARACTERS = 1_000;

export interface Passage {
  /** Characters (UTF-16 code units) from the start of the whole text. */
  readonly offset: number;
  readonly text: string;
}

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

/** Up to the last mark of a text without spaces: no identifier is cut that has letters, digits, `_` and `-` alone. */
const UP_TO_MARK = /^.*[^\p{L}\p{N}\p{M}\p{Cs}\p{Cf}_-]/su;

/**
 * In the second half of the passage, after the last line end, else the last space, else the last mark, else in
 * mid-word but never inside a pair of surrogates.
 */
function passageEnd(text: string, start: number): number {
  const limit = start + PASSAGE_CHARACTERS;
  if (limit >= text.length) return text.length;
  const earliest = start + PASSAGE_CHARACTERS / 2;
  // Looked for here alone: in a text of one line the whole beginning would be searched for each passage.
  const half = text.slice(earliest, limit);
  for (const separator of ['\n', ' ']) {
    const found = half.lastIndexOf(separator);
    if (found !== -1) return earliest + found + 1;
  }
  const [upToMark] = UP_TO_MARK.exec(half) ?? [];
  if (upToMark !== undefined) return earliest + upToMark.length;
  const splitsPair = (text.codePointAt(limit - 1) ?? 0) > 0xff_ff;
  return splitsPair ? limit - 1 : limit;
}

/** Passages of one statement: cutting more into words would leave the transaction idle for longer than the server allows. */
const PASSAGES_PER_INSERT = 250;
/** Characters that are read at a time: of a message of megabytes not all is indexed. */
const PORTION_CHARACTERS = 100 * PASSAGE_CHARACTERS;
/** Characters that are indexed of one original. Indexing these takes seconds; the longest original would take half a minute. */
export const INDEXED_CHARACTERS = 4_000_000;

const ASKS = /[?？؟]["'”’»)\]]*\s*$/u;

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

/** What the passages of a source share. */
interface SourceText {
  readonly source: Source;
  readonly saidAt: Date;
  readonly language: Language;
  readonly pathWords: readonly Word[];
}

export interface CutPassage extends SourceText, Passage {}

interface ReadPassageWords extends CutPassage {
  readonly words: readonly Word[];
  readonly place: number | null;
}

/**
 * Cuts the texts of a source into passages as they read. Offsets are those of the original, escapes of JSON included.
 * @returns with how many of its characters were read
 */
export async function cutSource(
  source: Source,
  texts: readonly ChunkedText[],
): Promise<{ readonly passages: readonly CutPassage[]; readonly characters: number }> {
  const reader = new ReadableTextReader();
  let text = '';
  for await (const portion of portionsOf(texts, reader)) {
    text += portion;
    if (reader.originalOffset(text.length) >= INDEXED_CHARACTERS) break;
  }
  const pathWords = source.path === null ? [] : wordsOfPath(source.path);
  const shared = { source, pathWords, language: languageOf(text), saidAt: saidAtOf(source, text) };
  const passages = splitPassages(text).map((passage) =>
    Object.assign({}, shared, { offset: reader.originalOffset(passage.offset), text: plainText(passage.text) }),
  );
  return { passages, characters: reader.originalOffset(text.length) };
}

/** @returns the next place of the talk */
export async function writePassages(
  sql: Transaction,
  conversation: IndexedConversation,
  passages: readonly CutPassage[],
): Promise<number> {
  const marks = [agentMark(conversation), conversationMark(conversation.id)];
  const frequencies = new Map<string, number>();
  let place = conversation.talkPassages;
  for (let first = 0; first < passages.length; first += PASSAGES_PER_INSERT) {
    const read = passages.slice(first, first + PASSAGES_PER_INSERT).map((passage) => {
      const own = passage.source.isTalk ? place : null;
      if (own !== null) place += 1;
      return Object.assign({}, passage, { place: own, words: wordsOf(withoutEncodedBytes(passage.text)) });
    });
    const stems = await stemsByLanguage(sql, read);
    const vectors = read.map((passage) => {
      const own = stems.get(passage.language) ?? new Map<string, Stem>();
      const terms = passageTerms(passage, own, [...marks, kindMark(passage.source.kind)]);
      for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
      return toVector(terms);
    });
    await insertPassages(sql, conversation, read, vectors);
  }
  await addFrequencies(sql, conversation, frequencies);
  return place;
}

async function stemsByLanguage(
  sql: Transaction,
  passages: readonly ReadPassageWords[],
): Promise<ReadonlyMap<Language, ReadonlyMap<string, Stem>>> {
  const stems = new Map<Language, ReadonlyMap<string, Stem>>();
  for (const language of new Set(passages.map((passage) => passage.language))) {
    const words = passages.flatMap((each) => (each.language === language ? [...each.words, ...each.pathWords] : []));
    stems.set(language, await stemsOf(sql, language, words));
  }
  return stems;
}

async function insertPassages(
  sql: Transaction,
  { id }: IndexedConversation,
  passages: readonly ReadPassageWords[],
  vectors: readonly string[],
): Promise<void> {
  await sql`
    insert into passages (conversation_id, source_id, kind, sequence, tool_name, path, character_offset, text, terms,
      words, place, is_question, created_at, said_at)
    select ${id}, p.source_id, p.kind, p.sequence, p.tool_name, p.path, p.character_offset, p.text,
      p.terms::tsvector, p.words, p.place, p.is_question = 1, p.created_at, p.said_at
    from unnest(${passages.map(({ source }) => source.sourceId)}::uuid[],
      ${passages.map(({ source }) => source.kind)}::text[], ${passages.map(({ source }) => source.sequence)}::int[],
      ${passages.map(({ source }) => source.toolName)}::text[], ${passages.map(({ source }) => source.path)}::text[],
      ${passages.map(({ offset }) => offset)}::int[], ${passages.map(({ text }) => text)}::text[],
      ${[...vectors]}::text[], ${passages.map(({ words }) => words.at(-1)?.position ?? 0)}::int[],
      ${passages.map(({ place }) => place)}::int[], ${passages.map(({ text }) => Number(ASKS.test(text)))}::int[],
      ${passages.map(({ source }) => source.createdAt.toISOString())}::timestamptz[],
      ${passages.map(({ saidAt }) => saidAt.toISOString())}::timestamptz[])
      as p (source_id, kind, sequence, tool_name, path, character_offset, text, terms, words, place, is_question,
        created_at, said_at)`;
}

/** The last statement of a batch and in order of terms: all conversations of an agent share these rows. */
async function addFrequencies(
  sql: Transaction,
  { tenant, agent }: IndexedConversation,
  frequencies: ReadonlyMap<string, number>,
): Promise<void> {
  const terms = [...frequencies].toSorted(([one], [other]) => (one < other ? -1 : 1));
  if (terms.length === 0) return;
  await sql`
    insert into term_frequencies as f (tenant, agent, term, passages)
    select ${tenant}, ${agent}, t.term, t.passages
    from unnest(${terms.map(([term]) => term)}::text[], ${terms.map(([, count]) => count)}::int[]) as t (term, passages)
    on conflict (tenant, agent, term) do update set passages = f.passages + excluded.passages`;
}

/** Words by which somebody may ask for a file: the path, the names in it and the file's without its ending, with their parts. */
function wordsOfPath(path: string): Word[] {
  const names = path.split(/[/\\]+/u);
  const bare = (names.at(-1) ?? '').replace(/(?<=.)\.[^.]*$/u, '');
  return [path, ...names, bare].flatMap((name) => wordsOf(name));
}

async function* portionsOf(texts: readonly ChunkedText[], reader: ReadableTextReader): AsyncIterable<string> {
  for (const text of texts) {
    for await (const chunk of text) {
      for (let start = 0; start < chunk.length; start += PORTION_CHARACTERS) {
        yield reader.read(chunk.slice(start, start + PORTION_CHARACTERS));
      }
    }
    yield reader.end();
  }
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
