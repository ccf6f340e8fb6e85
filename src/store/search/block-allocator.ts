import type { Transaction } from '../database.ts';
import { BLOCK_PASSAGES, isSpoken } from './postings.ts';
import type { PostedKind } from './postings.ts';

/** The conversation whose passages are written. */
export interface IndexedConversation {
  readonly id: string;
  readonly number: number;
  /** Its agent's, in search_agents. */
  readonly agentNumber: number;
}

interface OpenBlock {
  readonly number: number;
  passages: number;
}

/** Gives passages their ids: places side by side in blocks of the conversation, of which two are open. */
export class BlockAllocator {
  readonly #sql: Transaction;
  readonly #conversation: IndexedConversation;
  readonly #open = new Map<boolean, OpenBlock>();

  /** The conversation's row of search_progress is locked by the caller: nobody else gives ids. */
  constructor(sql: Transaction, conversation: IndexedConversation) {
    this.#sql = sql;
    this.#conversation = conversation;
  }

  /** The next id for a passage of this kind. */
  async next(kind: PostedKind): Promise<number> {
    const spoken = isSpoken(kind);
    let block = this.#open.get(spoken) ?? (await this.#last(spoken));
    if (block === null || block.passages >= BLOCK_PASSAGES) {
      if (block !== null) await this.#writeCount(block);
      block = await this.#begin(spoken);
    }
    this.#open.set(spoken, block);
    const id = block.number * BLOCK_PASSAGES + block.passages;
    block.passages += 1;
    return id;
  }

  /** Stores how full the blocks are. */
  async write(): Promise<void> {
    for (const block of this.#open.values()) await this.#writeCount(block);
  }

  async #last(isSpokenBlock: boolean): Promise<OpenBlock | null> {
    const sql = this.#sql;
    const [row] = await sql<OpenBlock[]>`
      select number, passages from search_blocks
      where conversation_number = ${this.#conversation.number} and is_spoken = ${isSpokenBlock}
      order by number desc limit 1`;
    return row === undefined ? null : { ...row };
  }

  async #begin(isSpokenBlock: boolean): Promise<OpenBlock> {
    const { number, agentNumber } = this.#conversation;
    const sql = this.#sql;
    const [row] = await sql<{ number: number }[]>`
      insert into search_blocks (conversation_number, agent_number, is_spoken)
      values (${number}, ${agentNumber}, ${isSpokenBlock}) returning number`;
    if (row === undefined) throw new Error('an insert that returns its row returned none');
    return { number: row.number, passages: 0 };
  }

  async #writeCount({ number, passages }: OpenBlock): Promise<void> {
    const sql = this.#sql;
    await sql`update search_blocks set passages = ${passages} where number = ${number}`;
  }
}
