import type { Database } from '../../src/store/database.ts';
import { indexConversation, searchMemory } from '../../src/store/search.ts';
import type { Figure } from '../figures.ts';
import { dialogue } from '../memory/dialogues/dialogue.ts';
import { LexicalBaselines } from '../memory/dialogues/lexical-baselines.ts';
import { loadEntries } from '../memory/load-entries.ts';
import { exactly } from '../statistics.ts';

const DIALOGUES = 12;
const WITHIN = [1, 3, 10] as const;
const MOST = Math.max(...WITHIN);
const WAYS = ['search', 'BM25', 'idf'] as const;

/**
 * How often the one turn that answers is among the first: months of talk of two people, asked for in other words. Beside it the
 * same turns ranked by BM25, and by the sum of the rarities of the words that they have.
 */
export async function measureDialogues(sql: Database, seed: number): Promise<Figure[]> {
  const ranks: Record<(typeof WAYS)[number], number[]> = { search: [], BM25: [], idf: [] };
  for (let number = 0; number < DIALOGUES; number += 1) {
    const { turns, questions } = dialogue(seed * 1_000 + number);
    const times = turns.map(({ saidAt }) => saidAt);
    const { conversationId, entryIds } = await loadEntries(sql, turns.length, (at) => turns[at]?.text ?? '', times);
    await indexConversation(sql, conversationId);
    const baselines = await LexicalBaselines.of(
      sql,
      turns.map(({ text }) => text),
    );
    for (const { question, answer } of questions) {
      const found = await searchMemory(sql, { conversationId, query: question, limit: MOST });
      ranks.search.push(found.findIndex(({ entryId }) => entryId === entryIds[answer]));
      ranks.BM25.push((await baselines.rank(question, 'bm25')).indexOf(answer));
      ranks.idf.push((await baselines.rank(question, 'idf')).indexOf(answer));
    }
  }
  return WAYS.flatMap((way) => WITHIN.map((within) => figureOf(way, within, ranks[way])));
}

function figureOf(way: (typeof WAYS)[number], within: number, ranks: readonly number[]): Figure {
  const hits = ranks.filter((rank) => rank >= 0 && rank < within).length;
  return {
    benchmark: 'dialogues',
    name: `${way}: answer among ${within}, of ${ranks.length} questions`,
    unit: '%',
    ...(way === 'search' && within === MOST && { target: { atLeast: 70 } }),
    ...exactly((100 * hits) / Math.max(1, ranks.length)),
  };
}
