import type { Database } from '../../../src/store/database/database.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { sharesFoundWithin } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { writtenDialogues } from '../memory/dialogues/written-dialogues.ts';
import { loadEntries } from '../memory/load-entries.ts';

const WITHIN = [1, 3, 10];
const MOST = Math.max(...WITHIN);

/**
 * How often the one turn that answers is among the first: months of talk of two people, asked for in other words, once with
 * questions that have a word of the answer, and once with such that have hardly one.
 */
export async function measureDialogues(sql: Database): Promise<Figure[]> {
  const ranks: Record<'near' | 'far', number[]> = { near: [], far: [] };
  for (const { turns, questions } of await writtenDialogues()) {
    const times = turns.map(({ saidAt }) => saidAt);
    const { conversationId, entryIds } = await loadEntries(sql, turns.length, (at) => turns[at]?.text ?? '', times);
    await indexConversation(sql, conversationId);
    for (const { question, answer, isFar } of questions) {
      const found = await searchMemory(sql, { conversationId, query: question, limit: MOST });
      ranks[isFar ? 'far' : 'near'].push(found.findIndex(({ entryId }) => entryId === entryIds[answer]));
    }
  }
  const figure = { benchmark: 'dialogues', within: WITHIN } as const;
  return [
    ...sharesFoundWithin({ ...figure, name: 'near', ranks: ranks.near, target: { atLeast: 70 } }),
    ...sharesFoundWithin({ ...figure, name: 'far', ranks: ranks.far }),
  ];
}
