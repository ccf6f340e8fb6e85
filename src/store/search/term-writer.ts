import type { Transaction } from '../database.ts';
import type { IndexedConversation } from './block-allocator.ts';
import type { PassageKind } from './found-passage.ts';
import { isWordTerm } from './passage-terms.ts';
import { BLOCK_PASSAGES, encodePosting } from './postings.ts';
import type { Word } from './words.ts';

/** Postings that are kept before they are written: appending to the postings of a term rewrites them. */
const MOST_WAITING = 200_000;

interface PostedPassage {
  readonly id: number;
  readonly source: { readonly kind: PassageKind; readonly isCall: boolean };
  readonly words: readonly Word[];
  readonly terms: ReadonlyMap<string, readonly number[]>;
  /** Those that stand in a question. */
  readonly asked: ReadonlySet<string>;
}

/** Terms on their way to the index: which passages have them, how many passages that are, and which words there are. */
export class TermWriter {
  readonly #sql: Transaction;
  readonly #conversation: IndexedConversation;
  /** Postings in hexadecimal by block and term, in order of passages. */
  readonly #postings = new Map<number, Map<string, string>>();
  readonly #counts = new Map<string, number>();
  /** All that were written. */
  readonly #written = new Set<string>();
  #waiting = 0;

  constructor(sql: Transaction, conversation: IndexedConversation) {
    this.#sql = sql;
    this.#conversation = conversation;
  }

  async add(passages: readonly PostedPassage[]): Promise<void> {
    for (const passage of passages) this.#post(passage);
    if (this.#waiting >= MOST_WAITING) await this.#write();
  }

  /** Writes what waits, and which words there are: the last statements of who indexes. */
  async finish(): Promise<void> {
    await this.#write();
    const sql = this.#sql;
    const words = [...this.#written].filter(isWordTerm).toSorted();
    this.#written.clear();
    if (words.length === 0) return;
    // From before the look until the commit, so that nobody forgets a word meanwhile (`forget_words`): conversations that are
    // indexed share it. Late, because a delete waits for all who hold it.
    // Sent together, run one after the other: only the second looks.
    await Promise.all([
      sql`select pg_advisory_xact_lock_shared(hashtextextended('search_vocabulary', 0))`,
      sql`
        insert into search_vocabulary select t.term from unnest(${words}::text[]) as t (term)
        where not exists (select from search_vocabulary v where v.term = t.term) on conflict do nothing`,
    ]);
  }

  #post({ id, source, words, terms, asked }: PostedPassage): void {
    const block = Math.floor(id / BLOCK_PASSAGES);
    const inBlock = this.#postings.get(block) ?? new Map<string, string>();
    this.#postings.set(block, inBlock);
    const passage = {
      place: id % BLOCK_PASSAGES,
      kind: source.isCall ? ('call' as const) : source.kind,
      words: words.at(-1)?.position ?? 0,
    };
    for (const [term, places] of terms) {
      const posting = encodePosting({ ...passage, count: places.length, asks: asked.has(term) });
      inBlock.set(term, (inBlock.get(term) ?? '') + posting);
      this.#counts.set(term, (this.#counts.get(term) ?? 0) + 1);
    }
    this.#waiting += terms.size;
  }

  async #write(): Promise<void> {
    const sql = this.#sql;
    const { number, agentNumber } = this.#conversation;
    for (const [block, inBlock] of this.#postings) {
      const rows = [...inBlock].toSorted(([one], [other]) => (one < other ? -1 : 1));
      await sql`
        insert into search_postings as p (agent_number, term, block, postings)
        select ${agentNumber}, t.term, ${block}, decode(t.postings, 'hex')
        from unnest(${rows.map(([term]) => term)}::text[], ${rows.map(([, postings]) => postings)}::text[]) as t (term, postings)
        on conflict (agent_number, term, block) do update set postings = p.postings || excluded.postings`;
    }
    // Rows are locked in the order of terms, as in every transaction, so that no two wait for each other.
    const terms = [...this.#counts.keys()].toSorted();
    await sql`
      insert into search_statistics as s (conversation_number, term, passages)
      select ${number}, * from unnest(${terms}::text[], ${terms.map((term) => this.#counts.get(term) ?? 0)}::int[])
      on conflict (conversation_number, term) do update set passages = s.passages + excluded.passages`;
    for (const term of terms) this.#written.add(term);
    this.#postings.clear();
    this.#counts.clear();
    this.#waiting = 0;
  }
}
