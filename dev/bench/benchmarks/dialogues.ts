import type { Database } from '../../../src/store/database/database.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { Figure } from '../figures.ts';
import { dialogue } from '../memory/dialogues/dialogue.ts';
import type { Dialogue } from '../memory/dialogues/dialogue.ts';
import { LexicalBaselines } from '../memory/dialogues/lexical-baselines.ts';
import { writtenDialogues } from '../memory/dialogues/written-dialogues.ts';
import { loadEntries } from '../memory/load-entries.ts';
import { exactly } from '../statistics.ts';

const DIALOGUES = 12;
const WITHIN = [1, 3, 10] as const;
const MOST = Math.max(...WITHIN);
const WAYS = ['search', 'BM25', 'idf'] as const;

type Ranks = Record<(typeof WAYS)[number], number[]>;

/**
 * How often the one turn that answers is among the first: months of talk of two people, asked for in other words. Beside it the
 * same turns ranked by BM25, and by the sum of the rarities of the words that they have. Generated talk first, then what
 * was written, once with questions that have a word of the answer, and once with such that have hardly one.
 */
export async function measureDialogues(sql: Database, seed: number): Promise<Figure[]> {
  const generated = noRanks();
  for (let number = 0; number < DIALOGUES; number += 1) await ask(sql, dialogue(seed * 1_000 + number), generated);
  const [near, far] = [noRanks(), noRanks()];
  for (const { turns, questions } of await writtenDialogues()) {
    await ask(sql, { turns, questions: questions.filter(({ isFar }) => !isFar) }, near);
    await ask(sql, { turns, questions: questions.filter(({ isFar }) => isFar) }, far);
  }
  const figuresOf = (told: string, ranks: Ranks): Figure[] =>
    WAYS.flatMap((way) =>
      WITHIN.map((within) =>
        figureOf({
          name: `${way}, ${told}`,
          within,
          ranks: ranks[way],
          hasTarget: way === 'search' && told !== 'written far',
        }),
      ),
    );
  return [...figuresOf('generated', generated), ...figuresOf('written near', near), ...figuresOf('written far', far)];
}

function noRanks(): Ranks {
  return { search: [], BM25: [], idf: [] };
}

async function ask(sql: Database, { turns, questions }: Dialogue, ranks: Ranks): Promise<void> {
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

interface Counted {
  readonly name: string;
  readonly within: number;
  readonly ranks: readonly number[];
  readonly hasTarget: boolean;
}

function figureOf({ name, within, ranks, hasTarget }: Counted): Figure {
  const hits = ranks.filter((rank) => rank >= 0 && rank < within).length;
  return {
    benchmark: 'dialogues',
    name: `${name}: answer among ${within}, of ${ranks.length} questions`,
    unit: '%',
    ...(hasTarget && within === MOST && { target: { atLeast: 70 } }),
    ...exactly((100 * hits) / Math.max(1, ranks.length)),
  };
}
