import { ReadableTextReader } from '../../context/readable-text.ts';
import type { Transaction } from '../database.ts';
import { plainText } from '../stored-text.ts';
import { BlockAllocator } from './block-allocator.ts';
import type { IndexedConversation } from './block-allocator.ts';
import { emojiIn } from './emoji.ts';
import { withoutEncodedBytes } from './encoded-bytes.ts';
import type { PassageKind } from './found-passage.ts';
import { headingOf, saidAtOf } from './heading.ts';
import { PASSAGE_CHARACTERS, splitPassages } from './passages.ts';
import type { Passage } from './passages.ts';
import { languageOf } from './languages.ts';
import type { Language } from './languages.ts';
import { passageTerms, toVector } from './passage-terms.ts';
import { TermWriter } from './term-writer.ts';
import { stemsOf } from './stems.ts';
import type { Stem } from './stems.ts';
import { wordsOf } from './words.ts';
import type { Word } from './words.ts';

/** Passages of one statement: cutting more into words would leave the transaction idle for longer than the server allows. */
const PASSAGES_PER_INSERT = 250;
/** Characters that are cut into passages at a time, so that one message of megabytes is written as it is cut. */
const PORTION_CHARACTERS = 100 * PASSAGE_CHARACTERS;
/**
 * Characters that are indexed of one original; `recall_open` reads the rest. A search waits for what is not indexed yet, and this takes
 * seconds; the whole of the longest original would take more than half a minute.
 */
export const INDEXED_CHARACTERS = 4_000_000;

/** What the passages of one source share. */
export interface Source {
  readonly sourceId: string;
  readonly kind: PassageKind;
  /** Nothing but tool calls. */
  readonly isCall: boolean;
  readonly sequence: number | null;
  readonly toolName: string | null;
  /** With which the tool was called; empty: with none. `null`: it is no result of a tool. */
  readonly path: string | null;
  readonly createdAt: Date;
}

/** One text: JSON, or not, as a whole. */
type ChunkedText = Iterable<string> | AsyncIterable<string>;

interface Reading {
  readonly source: Source;
  readonly language: Language;
  readonly reader: ReadableTextReader;
}

interface WaitingPassage {
  readonly source: Source;
  readonly saidAt: Date | null;
  readonly language: Language;
  readonly offset: number;
  readonly text: string;
  readonly words: readonly Word[];
  readonly emoji: readonly Word[];
}

interface PreparedPassage extends WaitingPassage {
  readonly id: number;
  readonly terms: ReadonlyMap<string, readonly number[]>;
  readonly asked: ReadonlySet<string>;
}

/** Passages on their way to the index: written many at a time, because a round trip costs more than a row. */
export class PassageWriter {
  readonly #sql: Transaction;
  readonly #conversation: IndexedConversation;
  readonly #blocks: BlockAllocator;
  readonly #terms: TermWriter;
  #waiting: WaitingPassage[] = [];
  #written = 0;
  /** Of the source whose passages were pushed last. */
  #saidAt: Date | null = null;

  constructor(sql: Transaction, conversation: IndexedConversation) {
    this.#sql = sql;
    this.#conversation = conversation;
    this.#blocks = new BlockAllocator(sql, conversation);
    this.#terms = new TermWriter(sql, conversation);
  }

  /**
   * Cuts the texts of a source as they read, each of which comes in chunks; what is left of a chunk after its last full passage joins
   * the next. The places of passages are those of the originals, escapes included. Returns how many of their characters were read.
   */
  async add(source: Source, texts: readonly ChunkedText[]): Promise<number> {
    const reader = new ReadableTextReader();
    let offset = 0;
    let rest = '';
    let language: Language | undefined;
    // A source that begins with nothing but white space has no passage at its beginning.
    this.#saidAt = null;
    for await (const portion of portionsOf(texts, reader)) {
      rest += portion;
      if (rest.length < PORTION_CHARACTERS) continue;
      language ??= languageOf(rest);
      const passages = splitPassages(rest, offset);
      const last = passages.pop();
      const consumed = last === undefined ? rest.length : last.offset - offset;
      await this.#push({ source, language, reader }, passages);
      rest = rest.slice(consumed);
      offset += consumed;
      const read = reader.originalOffset(offset);
      if (read >= INDEXED_CHARACTERS) return read;
    }
    language ??= languageOf(rest);
    await this.#push({ source, language, reader }, splitPassages(rest, offset));
    return reader.originalOffset(offset + rest.length);
  }

  async #push({ source, language, reader }: Reading, passages: readonly Passage[]): Promise<void> {
    for (const passage of passages) {
      const text = plainText(passage.text);
      if (passage.offset === 0) this.#saidAt = saidAtOf(source, headingOf(text));
      const searched = withoutEncodedBytes(text);
      const [words, emoji] = [wordsOf(searched), emojiIn(searched)];
      const offset = reader.originalOffset(passage.offset);
      this.#waiting.push({ source, saidAt: this.#saidAt, language, offset, text, words, emoji });
    }
    if (this.#waiting.length >= PASSAGES_PER_INSERT) await this.#flush();
  }

  /** Writes what waits; returns how many passages were written in all. */
  async finish(): Promise<number> {
    await this.#flush();
    await this.#blocks.write();
    await this.#terms.finish();
    return this.#written;
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const prepared = await this.#prepare(waiting);
    await this.#insert(prepared);
    await this.#count(prepared);
    await this.#terms.add(prepared);
    this.#written += prepared.length;
  }

  async #prepare(waiting: readonly WaitingPassage[]): Promise<PreparedPassage[]> {
    const stems = new Map<Language, ReadonlyMap<string, Stem>>();
    for (const language of new Set(waiting.map((passage) => passage.language))) {
      const words = waiting.filter((passage) => passage.language === language).flatMap((passage) => passage.words);
      stems.set(language, await stemsOf(this.#sql, language, words));
    }
    const prepared: PreparedPassage[] = [];
    for (const passage of waiting) {
      const { source, language, text } = passage;
      const ofLanguage = stems.get(language) ?? new Map<string, Stem>();
      const id = await this.#blocks.next(source.isCall ? 'call' : source.kind);
      const words = [...passage.words, ...passage.emoji];
      const terms = passageTerms({ text, words }, ofLanguage, source.createdAt);
      const asked = new Set(
        wordsOf(questionsIn(withoutEncodedBytes(text))).map(({ text }) => ofLanguage.get(text)?.term ?? text),
      );
      prepared.push({ ...passage, id, terms, asked });
    }
    return prepared;
  }

  async #insert(passages: readonly PreparedPassage[]): Promise<void> {
    await this.#sql`
      insert into passages (id, conversation_id, source_id, kind, sequence, tool_name, path, character_offset, text, terms, words, created_at, said_at)
      select p.id, ${this.#conversation.id}, p.source_id, p.kind, p.sequence, p.tool_name, p.path, p.character_offset, p.text,
        p.terms::tsvector, p.words, p.created_at, p.said_at
      from unnest(${passages.map(({ id }) => id)}::bigint[], ${passages.map(({ source }) => source.sourceId)}::uuid[],
        ${passages.map(({ source }) => source.kind)}::text[], ${passages.map(({ source }) => source.sequence)}::int[],
        ${passages.map(({ source }) => source.toolName)}::text[], ${passages.map(({ source }) => source.path)}::text[],
        ${passages.map(({ offset }) => offset)}::int[],
        ${passages.map(({ text }) => text)}::text[], ${passages.map(({ terms }) => toVector(terms))}::text[],
        ${passages.map(({ words }) => wordCount(words))}::int[],
        ${passages.map(({ source }) => source.createdAt.toISOString())}::timestamptz[],
        ${passages.map(({ saidAt }) => saidAt?.toISOString() ?? null)}::timestamptz[])
        as p (id, source_id, kind, sequence, tool_name, path, character_offset, text, terms, words, created_at, said_at)`;
  }

  async #count(passages: readonly PreparedPassage[]): Promise<void> {
    await this.#sql`
      update search_progress set passages = passages + ${passages.length},
        words = words + ${passages.reduce((sum, { words }) => sum + wordCount(words), 0)},
        languages = array(select distinct unnest(languages || ${[...new Set(passages.map(({ language }) => language))]}::text[]) order by 1)
      where number = ${this.#conversation.number}`;
  }
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

/** The sentences of a text that ask something. */
function questionsIn(text: string): string {
  const sentences = text.split(/(?<=[.!?。！？؟\n])/u);
  return sentences.filter((sentence) => /[?？؟]$/u.test(sentence)).join(' ');
}

/** The parts of an identifier share its place: it is one word. */
export function wordCount(words: readonly Word[]): number {
  return words.at(-1)?.position ?? 0;
}
