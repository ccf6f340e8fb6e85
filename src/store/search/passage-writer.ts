import type { Transaction } from '../database.ts';
import { plainText } from '../stored-text.ts';
import { PASSAGE_CHARACTERS, splitPassages } from './passages.ts';
import type { Passage } from './passages.ts';
import { languageOf } from './languages.ts';
import type { Language } from './languages.ts';
import { agentTerm, conversationTerm, isWordTerm, passageTerms, toVector } from './passage-terms.ts';
import { stemsOf } from './stems.ts';
import { wordsOf } from './words.ts';
import type { Word } from './words.ts';

/** Passages of one statement: cutting more into words would leave the transaction idle for longer than the server allows. */
const PASSAGES_PER_INSERT = 250;
/** Characters that are indexed of one original; `recall_open` reads the rest. */
const INDEXED_CHARACTERS = 4_000_000;

/** What the passages of one source share. */
export interface Source {
  readonly sourceId: string;
  readonly kind: string;
  readonly sequence: number | null;
  readonly toolName: string | null;
  readonly createdAt: Date;
}

/** The conversation whose passages are written. */
export interface IndexedConversation {
  readonly id: string;
  readonly number: number;
  readonly agent: string;
}

interface WaitingPassage {
  readonly source: Source;
  readonly language: Language;
  readonly offset: number;
  readonly text: string;
  readonly words: readonly Word[];
}

interface PreparedPassage extends WaitingPassage {
  readonly terms: ReadonlyMap<string, readonly number[]>;
}

/** Passages on their way to the index: written many at a time, because a round trip costs more than a row. */
export class PassageWriter {
  readonly #sql: Transaction;
  readonly #conversation: IndexedConversation;
  #waiting: WaitingPassage[] = [];
  #written = 0;

  constructor(sql: Transaction, conversation: IndexedConversation) {
    this.#sql = sql;
    this.#conversation = conversation;
  }

  /** Cuts a text that comes in chunks; what is left of a chunk after its last full passage joins the next. */
  async add(source: Source, texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
    let offset = 0;
    let rest = '';
    let language: Language | undefined;
    for await (const text of texts) {
      rest += text;
      if (rest.length < 100 * PASSAGE_CHARACTERS) continue;
      language ??= languageOf(rest);
      const passages = splitPassages(rest, offset);
      const last = passages.pop();
      const consumed = last === undefined ? rest.length : last.offset - offset;
      await this.#push(source, language, passages);
      rest = rest.slice(consumed);
      offset += consumed;
      if (offset >= INDEXED_CHARACTERS) return;
    }
    await this.#push(source, language ?? languageOf(rest), splitPassages(rest, offset));
  }

  async #push(source: Source, language: Language, passages: readonly Passage[]): Promise<void> {
    for (const passage of passages) {
      const text = plainText(passage.text);
      this.#waiting.push({ source, language, offset: passage.offset, text, words: wordsOf(text) });
    }
    if (this.#waiting.length >= PASSAGES_PER_INSERT) await this.flush();
  }

  /** Writes what waits; returns how many passages were written in all. */
  async flush(): Promise<number> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return this.#written;
    const prepared = await this.#prepare(waiting);
    await this.#insert(prepared);
    await this.#count(prepared);
    this.#written += prepared.length;
    return this.#written;
  }

  async #prepare(waiting: readonly WaitingPassage[]): Promise<PreparedPassage[]> {
    const prepared: PreparedPassage[] = [];
    for (const language of new Set(waiting.map((passage) => passage.language))) {
      const passages = waiting.filter((passage) => passage.language === language);
      const stems = await stemsOf(
        this.#sql,
        language,
        passages.flatMap(({ words }) => words),
      );
      for (const passage of passages) {
        prepared.push({ ...passage, terms: passageTerms(passage, stems, passage.source.createdAt) });
      }
    }
    return prepared;
  }

  async #insert(passages: readonly PreparedPassage[]): Promise<void> {
    const scope: [string, number[]][] = [
      [conversationTerm(this.#conversation.number), []],
      [agentTerm(this.#conversation.agent), []],
    ];
    await this.#sql`
      insert into passages (conversation_id, source_id, kind, sequence, tool_name, character_offset, text, terms, words, created_at)
      select ${this.#conversation.id}, p.source_id, p.kind, p.sequence, p.tool_name, p.character_offset, p.text,
        p.terms::tsvector, p.words, p.created_at
      from unnest(${passages.map(({ source }) => source.sourceId)}::uuid[],
        ${passages.map(({ source }) => source.kind)}::text[], ${passages.map(({ source }) => source.sequence)}::int[],
        ${passages.map(({ source }) => source.toolName)}::text[], ${passages.map(({ offset }) => offset)}::int[],
        ${passages.map(({ text }) => text)}::text[],
        ${passages.map(({ terms }) => toVector(new Map([...terms, ...scope])))}::text[],
        ${passages.map(({ words }) => words.at(-1)?.position ?? 0)}::int[],
        ${passages.map(({ source }) => source.createdAt.toISOString())}::timestamptz[])
        as p (source_id, kind, sequence, tool_name, character_offset, text, terms, words, created_at)`;
  }

  /** Rows are locked in the order of terms, as in every transaction, so that no two wait for each other. */
  async #count(passages: readonly PreparedPassage[]): Promise<void> {
    const counts = new Map<string, number>();
    for (const { terms } of passages) for (const term of terms.keys()) counts.set(term, (counts.get(term) ?? 0) + 1);
    const terms = [...counts.keys()].toSorted();
    const sql = this.#sql;
    const { number } = this.#conversation;
    await sql`
      insert into search_statistics as s (conversation_number, term, passages)
      select ${number}, * from unnest(${terms}::text[], ${terms.map((term) => counts.get(term) ?? 0)}::int[])
      on conflict (conversation_number, term) do update set passages = s.passages + excluded.passages`;
    await sql`
      insert into search_vocabulary select t.term from unnest(${terms.filter(isWordTerm)}::text[]) as t (term)
      where not exists (select from search_vocabulary v where v.term = t.term) on conflict do nothing`;
    await sql`
      update search_progress set passages = passages + ${passages.length},
        words = words + ${passages.reduce((sum, { words }) => sum + (words.at(-1)?.position ?? 0), 0)},
        languages = array(select distinct unnest(languages || ${[...new Set(passages.map(({ language }) => language))]}::text[]) order by 1)
      where number = ${number}`;
  }
}
