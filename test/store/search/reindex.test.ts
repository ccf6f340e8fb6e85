import { expect, it } from 'vitest';
import { commitCompaction } from '../../../src/store/compactions/compactions.ts';
import { takeMessages } from '../../../src/store/messages/take-messages.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { reindexConversation } from '../../../src/store/search/index-conversation.ts';
import { SUMMARY, commitRequest, plan, planWithCut } from '../support/compaction-builders.ts';
import { answer, conversationOf, finishToolCall, send, text, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

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
