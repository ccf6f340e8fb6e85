import { join } from 'node:path';
import type { Database } from '../../src/store/database.ts';
import { indexConversation, searchMemory } from '../../src/store/search.ts';
import type { Figure } from '../figures.ts';
import { loadEntries } from '../memory/load-entries.ts';
import { NaturalCorpus } from '../memory/natural-corpus.ts';
import { exactly, summarize } from '../statistics.ts';

const QUESTIONS = 200;
/** Entries that the target of the small size holds for. */
const SMALL = 100_000;
const SMALL_MILLISECONDS = 20;
const LARGE_MILLISECONDS = 80;

/**
 * Searches of one conversation of so many entries, whose words come as often as in real text, with questions of 5 to 12
 * words, common ones among them. Each question is asked once to warm up and once more for the time.
 */
export async function measureMemorySearch(sql: Database, entries: number): Promise<Figure[]> {
  const corpus = await NaturalCorpus.read(join(process.cwd(), 'node_modules'));
  const { conversationId } = await loadEntries(sql, entries, (index) => corpus.text(index));
  const started = performance.now();
  await indexConversation(sql, conversationId);
  const perEntry = (performance.now() - started) / entries;
  // As autovacuum would in time.
  await sql`vacuum analyze passages`;
  await sql`vacuum analyze search_statistics`;
  const questions = Array.from({ length: QUESTIONS }, (_, index) => corpus.question(index));
  const times: number[] = [];
  for (const warm of [false, true]) {
    for (const query of questions) {
      const asked = performance.now();
      await searchMemory(sql, { conversationId, query });
      if (warm) times.push(performance.now() - asked);
    }
  }
  const slowest = times.toSorted((one, other) => one - other)[Math.ceil(0.95 * times.length) - 1] ?? Number.NaN;
  const figure = { benchmark: 'memory-search', unit: 'ms' } as const;
  const size = entries.toLocaleString('en-US');
  return [
    { ...figure, name: `search of ${size} entries`, ...summarize(times) },
    {
      ...figure,
      name: `95 of 100 searches of ${size} entries`,
      target: { atMost: entries <= SMALL ? SMALL_MILLISECONDS : LARGE_MILLISECONDS },
      ...exactly(slowest),
    },
    { ...figure, name: 'indexing an entry, off the step path', ...exactly(perEntry) },
  ];
}
