import { describe, expect, it, test, beforeAll } from 'vitest';
import { deleteConversation } from '../../../src/store/conversations/delete-conversation.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { reindexConversation } from '../../../src/store/search/index-conversation.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { end } from '../support/branch-builders.ts';
import { conversationOf, useTestStore, answer, finishToolCall, send, text } from '../support/store-builders.ts';
import { commitCompaction } from '../../../src/store/compactions/commit-compaction.ts';
import { takeMessages } from '../../../src/store/messages/take-messages.ts';
import { SUMMARY, commitRequest, plan, planWithCut } from '../support/compaction-builders.ts';
import { wordsOf } from '../../../src/store/search/words.ts';
import { indexOnce } from '../../support/index-once.ts';

const { sql, owner } = useTestStore();

async function indexed(...messages: readonly string[]): Promise<string> {
  const turn = await conversationOf(sql, ...messages);
  await end(sql, turn);
  await indexConversation(sql, turn.conversationId);
  return turn.conversationId;
}

async function isKnown(word: string): Promise<boolean> {
  const rows = await sql`select from term_frequencies where term = ${word}`;
  return rows.length > 0;
}

/** Work that begins while a conversation is being deleted and that transaction is open; both end before this does. */
async function whileDeleting(conversationId: string, work: () => Promise<unknown>): Promise<void> {
  let beside: Promise<unknown> = Promise.resolve();
  await sql.begin(async (open) => {
    await open`select from delete_conversation(${conversationId})`;
    let isDone = false;
    beside = work().finally(() => (isDone = true));
    await waitUntil('the other one waits, or has nothing to wait for', async () => {
      const [row] = await sql<{ waits: boolean }[]>`
        select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waits`;
      return isDone || row?.waits === true;
    });
  });
  await beside;
}

describe('words of a conversation that is deleted are forgotten', () => {
  it('also those that an interrupted reindex had not come to', async () => {
    const conversationId = await indexed(`${'QUJD'.repeat(525_000)} first`, 'the quokkasecret stands here');
    expect(await isKnown('quokkasecret')).toBe(true);
    await reindexConversation(sql, conversationId, { signal: AbortSignal.abort() });
    await deleteConversation(sql, conversationId);
    expect(await isKnown('quokkasecret')).toBe(false);
  });

  it('also when another conversation that has them is deleted at the same time', async () => {
    const [one, other] = [await indexed('the zebrasecret of one'), await indexed('the zebrasecret of the other')];
    await whileDeleting(one, () => deleteConversation(sql, other));
    expect(await isKnown('zebrasecret')).toBe(false);
  });

  it('but not one that a conversation is just indexed with', async () => {
    const one = await indexed('the giraffeword of one');
    const { conversationId } = await conversationOf(sql, 'the giraffeword of the other');
    await whileDeleting(one, () => indexConversation(sql, conversationId));
    expect(await isKnown('giraffeword')).toBe(true);
    expect(await searchMemory(sql, { conversationId, query: 'girafeword' })).not.toEqual([]);
  });

  it('and a reindex keeps those that it finds again, and those of others', async () => {
    const [one, other] = [await indexed('a wombatword and an emuword'), await indexed('an emuword')];
    await reindexConversation(sql, one);
    expect([await isKnown('wombatword'), await isKnown('emuword')]).toEqual([true, true]);
    await deleteConversation(sql, one);
    expect([await isKnown('wombatword'), await isKnown('emuword')]).toEqual([false, true]);
    await deleteConversation(sql, other);
    expect(await isKnown('emuword')).toBe(false);
  });
});

const QUERIES = ['numbat', 'where does the numbat sleep?', 'the keeper', 'pump pressure bar', 'numbt'];

it('a conversation that is indexed anew is searched as one that was indexed as it grew: the same hits in the same order', async () => {
  const turn = await conversationOf(sql, 'Where does the numbat sleep?', 'The pump is set to 12 bar.');
  const { conversationId } = turn;
  for (let call = 1; call <= 12; call += 1) {
    await answer(sql, turn, call, { calls: 1 });
    // Many that are equally good, some of many passages.
    const told = `The numbat sleeps in log ${call % 4}, says the keeper. `;
    await finishToolCall(sql, turn, call, 0, text(told.repeat(call % 3 === 0 ? 60 : 1)));
    if (call === 6) {
      const { compaction } = await plan(sql, turn, planWithCut(6));
      const summary = { ...SUMMARY, text: 'Goal: find where the numbat sleeps. The pump is set to 12 bar.' };
      await commitCompaction(sql, commitRequest(turn, compaction.compactionId, { summary }));
    }
    await send(sql, { conversationId, ...text(`The pump is set to ${call + 12} bar now, pressure ${call}.`) });
    await takeMessages(sql, turn);
    await indexConversation(sql, conversationId);
  }
  const askedAt = new Date().toISOString();
  const hits = async () =>
    Promise.all(
      QUERIES.map(async (query) => {
        const found = await searchMemory(sql, { conversationId, query, limit: 30, askedAt });
        return found.map(({ entryId, offset, match, score }) => ({
          entryId,
          offset,
          match,
          score,
        }));
      }),
    );
  const before = await hits();
  expect(before.map(({ length }, index) => [QUERIES[index], length > 0])).toEqual(
    QUERIES.map((query) => [query, true]),
  );
  await reindexConversation(sql, conversationId);
  expect(await hits()).toEqual(before);
});

test('an index that is interrupted stops after two million characters, keeps what it did, and goes on from there', async () => {
  const file = 'QUJD'.repeat(525_000);
  const { conversationId } = await conversationOf(sql, `${file} first`, `${file} second`);
  const through = async () => {
    const [row] = await sql<{ through: number }[]>`
      select through_sequence as through from search_progress where conversation_id = ${conversationId}`;
    return row?.through;
  };
  await indexConversation(sql, conversationId, { signal: AbortSignal.abort() });
  expect(await through()).toBe(1);
  await indexConversation(sql, conversationId);
  expect(await through()).toBe(2);
  expect((await searchMemory(sql, { conversationId, query: 'second' }))[0]?.text).toContain('second');
});

/** One character that stands for eighteen. */
const LIGATURES = '\uFDFA'.repeat(64);

/** Fails for passages with a word. */
beforeAll(async () => {
  await owner.unsafe(`
    create function refuse_passage() returns trigger language plpgsql as $$
    begin
      if new.text like '%locked%' then raise exception 'refused' using errcode = 'XX000'; end if;
      return new;
    end $$;
    create trigger refuse_passage before insert on passages for each row execute function refuse_passage();`);
});

async function texts(where: { conversationId: string } | { agent: string }, query: string): Promise<string[]> {
  return (await searchMemory(sql, { ...where, query })).map((passage) => passage.text);
}

async function upkeep(): Promise<string[]> {
  const warnings: string[] = [];
  await indexOnce(sql, null, (line) => warnings.push((JSON.parse(line) as { msg: string }).msg));
  return warnings;
}

describe('a text whose characters stand for many', () => {
  it('is indexed, found by itself, and cut between characters', async () => {
    const { conversationId } = await conversationOf(sql, `greeting ${LIGATURES}`, 'the numbat digs');
    expect(await texts({ conversationId }, 'numbat')).toEqual(['the numbat digs']);
    expect(await texts({ conversationId }, LIGATURES)).toEqual([`greeting ${LIGATURES}`]);
    const [word] = wordsOf(LIGATURES);
    expect(Buffer.byteLength(word?.text ?? '')).toBeLessThanOrEqual(256);
    expect(wordsOf(`a${'𝒳'.repeat(90)}`)[0]?.text).toBe(`a${'x'.repeat(31)}`);
  });
});

describe('a conversation that cannot be indexed', () => {
  it('keeps no other one from being indexed, by upkeep or by a search of the agent', async () => {
    const broken = await conversationOf(sql, 'locked');
    const { conversationId } = await conversationOf(sql, 'the bilby digs');
    const [row] = await sql<{ agent: string }[]>`select agent from conversations where id = ${conversationId}`;
    expect(await texts({ agent: row?.agent ?? '' }, 'bilby')).toEqual(['the bilby digs']);
    const later = await conversationOf(sql, 'the dunnart digs');
    const warnings = await upkeep();
    expect(warnings).toEqual(['a conversation could not be indexed; upkeep tries again']);
    const [progress] = await sql<{ through: number }[]>`
      select through_sequence as through from search_progress where conversation_id = ${later.conversationId}`;
    expect(progress?.through).toBe(1);
    await expect(indexConversation(sql, broken.conversationId)).rejects.toMatchObject({ code: 'XX000' });
  });
});

describe('a search', () => {
  it('without a scope, or asked at no time, is refused', async () => {
    await expect(searchMemory(sql, { query: 'numbat' })).rejects.toMatchObject({ code: 'invalid_search' });
    const { conversationId } = await conversationOf(sql, 'the numbat digs');
    const asked = searchMemory(sql, { conversationId, query: 'numbat', askedAt: 'nope' });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_search', message: expect.stringContaining('"nope"') });
  });
});
