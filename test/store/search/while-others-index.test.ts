import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectDatabase } from '../../../src/store/database/database.ts';
import type { Database, Transaction } from '../../../src/store/database/database.ts';
import { takeMessages } from '../../../src/store/messages/take-messages.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { FoundPassage } from '../../../src/store/memory/recall-search.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';

import { conversationOf, openTestStore, send, text } from '../support/store-builders.ts';
import type { TestStore } from '../support/store-builders.ts';

let store: TestStore;
let sql: Database;
/** Waits for a lock no longer than a moment. */
let hasty: Database;

beforeAll(async () => {
  store = await openTestStore();
  ({ sql } = store);
  hasty = connectDatabase({ url: store.url, applicationName: 'hasty', maximumConnections: 1 });
  await hasty`set lock_timeout = 100`;
});
afterAll(async () => {
  await hasty.end();
  await store.close();
});

const OLD = 'The numbat sleeps in a log.';
const NEW = 'The quokka sleeps under a bush.';

async function indexed(): Promise<TurnReference> {
  const turn = await conversationOf(sql, OLD);
  await indexConversation(sql, turn.conversationId);
  return turn;
}

/** Its first message is indexed, its second one is not. */
async function halfIndexed(): Promise<string> {
  const turn = await indexed();
  await send(sql, { conversationId: turn.conversationId, ...text(NEW) });
  await takeMessages(sql, turn);
  return turn.conversationId;
}

function find(conversationId: string, by = sql): Promise<FoundPassage[]> {
  return searchMemory(by, { conversationId, query: 'where does the numbat or the quokka sleep?' });
}

const textsOf = (found: readonly FoundPassage[]): string[] => found.map((passage) => passage.text).toSorted();

describe('a search that waits for who indexes longer than for any lock', () => {
  async function whileLocked<Result>(conversationId: string, work: (open: Transaction) => Promise<Result>) {
    const { value } = await sql.begin(async (open) => {
      await open`select from search_progress where conversation_id = ${conversationId} for update`;
      return { value: await work(open) };
    });
    return value;
  }

  it('finds in the conversation what is indexed', async () => {
    const conversationId = await halfIndexed();
    expect(textsOf(await whileLocked(conversationId, () => find(conversationId, hasty)))).toEqual([OLD]);
    expect(textsOf(await find(conversationId))).toEqual([OLD, NEW]);
  });

  it('fails where nothing of the conversation is indexed: it cannot tell that there is nothing', async () => {
    const { conversationId } = await conversationOf(sql, OLD);
    await sql`insert into search_progress (conversation_id) values (${conversationId})`;
    await expect(whileLocked(conversationId, () => find(conversationId, hasty))).rejects.toMatchObject({
      code: '55P03',
    });
  });

  it('passes over that one conversation of an agent, and finds what is said in the others', async () => {
    const agent = 'of-two';
    const ids = [await halfIndexed(), (await conversationOf(sql, 'The dunnart sleeps in a burrow.')).conversationId];
    await sql`update conversations set agent = ${agent} where id = any(${ids})`;
    const found = await whileLocked(ids[0] ?? '', () => searchMemory(hasty, { agent, query: 'the dunnart' }));
    expect(textsOf(found)).toEqual(['The dunnart sleeps in a burrow.']);
  });
});
