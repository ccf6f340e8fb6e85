import type { Database } from '../../../src/store/database/database.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { FoundPassage, MemoryQuery } from '../../../src/store/memory/recall-search.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { loadEntries } from '../memory/load-entries.ts';
import type { LoadedKind } from '../memory/load-entries.ts';
import { NaturalCorpus } from '../memory/natural-corpus.ts';
import { exactly, summarize } from '../statistics.ts';

const QUESTIONS = 200;
/** Times that all of them are asked after the first, which warms up; the median of what 95 of 100 take counts. */
const ROUNDS = 3;
/** Of ten entries, as agent sessions have them: most are answers and results of tools. */
const KINDS: readonly LoadedKind[] = [
  'user',
  'assistant',
  'tool_result',
  'assistant',
  'tool_result',
  'assistant',
  'tool_result',
  'tool_result',
  'assistant',
  'user',
];
/** Entries that the target of the small size holds for. */
const SMALL = 100_000;
const SMALL_MILLISECONDS = 30;
const LARGE_MILLISECONDS = 150;
const INDEXING_MILLISECONDS = 2;
/**
 * Every question stands in an entry word for word, but its common words also stand in many others.
 */
const FOUND_PERCENT = 95;

/** What all questions were answered in one round, in their order. */
interface Round {
  readonly times: readonly number[];
  readonly results: readonly (readonly FoundPassage[])[];
}

/**
 * Searches of one conversation, or of an agent, of so many entries, whose words come as often as in real text, with questions of 5 to 12
 * words, common ones among them. Each question is asked once to warm up and three times more for the time. An answer is right
 * when one of the ten entries found has the question's words in a row, as the one has that they were taken from; a round is
 * equal to the first when each of its questions finds the same passages in the same order.
 * @param options.entriesEach of conversations that the entries are spread over, all of one agent, by which they are searched. Default: of one
 */
export async function measureMemorySearch(
  sql: Database,
  { entries, entriesEach }: Pick<BenchOptions, 'entries' | 'entriesEach'>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const size of entries) figures.push(...(await measureSize(sql, size, entriesEach)));
  return figures;
}

async function measureSize(sql: Database, entries: number, entriesEach: number | undefined): Promise<Figure[]> {
  const corpus = new NaturalCorpus();
  const { conversationIds, entryIds } = await load(sql, corpus, entries, entriesEach ?? entries);
  const agent = `bench-${newId()}`;
  await sql`update conversations set agent = ${agent} where id = any(${conversationIds}::uuid[])`;
  const scope = entriesEach === undefined ? { conversationId: conversationIds[0] ?? '' } : { agent };
  const started = performance.now();
  for (const conversationId of conversationIds) await indexConversation(sql, conversationId);
  const perEntry = (performance.now() - started) / entries;
  // As autovacuum would in time.
  await sql`
    vacuum analyze passages, term_frequencies, search_progress, conversations`;
  const questions = Array.from({ length: QUESTIONS }, (_, index) => corpus.question(index, entries));
  const first = await ask(sql, scope, questions);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await ask(sql, scope, questions));
  const misspelt = questions.map(misspell);
  await ask(sql, scope, misspelt);
  const ofMisspelt: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) ofMisspelt.push(await ask(sql, scope, misspelt));
  const indexes = new Map(entryIds.map((id, index) => [id, index]));
  const answered = first.results.filter((found, question) =>
    found.some(({ entryId }) => corpus.answers(indexes.get(entryId) ?? -1, questions[question] ?? '')),
  ).length;
  const size = sizeOf(entries, conversationIds.length);
  return figuresOf(entries, size, {
    perEntry,
    rounds: rounds.map(({ times }) => times),
    misspelt: ofMisspelt.map(({ times }) => times),
    found: (100 * answered) / QUESTIONS,
    equal: rounds.filter(({ results }) => isEqual(results, first.results)).length,
  });
}

/** Conversations of so many entries each, the last one of what is left. Entries are in the order of the corpus. */
async function load(
  sql: Database,
  corpus: NaturalCorpus,
  entries: number,
  each: number,
): Promise<{ readonly conversationIds: readonly string[]; readonly entryIds: readonly string[] }> {
  const conversationIds: string[] = [];
  const entryIds: string[] = [];
  for (let first = 0; first < entries; first += each) {
    const loaded = await loadEntries(
      sql,
      Math.min(each, entries - first),
      (index) => corpus.text(first + index),
      undefined,
      (index) => KINDS[(first + index) % KINDS.length] ?? 'user',
    );
    conversationIds.push(loaded.conversationId);
    for (const id of loaded.entryIds) entryIds.push(id);
  }
  return { conversationIds, entryIds };
}

function sizeOf(entries: number, conversations: number): string {
  const size = `${entries.toLocaleString('en-US')} entries`;
  return conversations === 1 ? size : `${size} in ${conversations.toLocaleString('en-US')} conversations of an agent`;
}

/** Its longest word with two letters exchanged, as typing does: what is in no text stands for words like it. */
function misspell(question: string): string {
  const words = question.split(' ');
  const longest = words.toSorted((one, other) => other.length - one.length)[0] ?? '';
  const middle = Math.floor(longest.length / 2);
  const wrong = `${longest.slice(0, middle - 1)}${longest.charAt(middle)}${longest.charAt(middle - 1)}${longest.slice(middle + 1)}`;
  return words.map((word) => (word === longest ? wrong : word)).join(' ');
}

async function ask(
  sql: Database,
  scope: Pick<MemoryQuery, 'conversationId' | 'agent'>,
  questions: readonly string[],
): Promise<Round> {
  const times: number[] = [];
  const results: (readonly FoundPassage[])[] = [];
  for (const query of questions) {
    const asked = performance.now();
    results.push(await searchMemory(sql, { ...scope, query }));
    times.push(performance.now() - asked);
  }
  return { times, results };
}

function isEqual(one: Round['results'], other: Round['results']): boolean {
  const placesOf = (results: Round['results']): string =>
    JSON.stringify(results.map((found) => found.map(({ entryId, offset }) => [entryId, offset])));
  return placesOf(one) === placesOf(other);
}

interface Measured {
  /** Milliseconds of an entry. */
  readonly perEntry: number;
  readonly rounds: readonly (readonly number[])[];
  /** The same questions, each with a word that is nowhere. */
  readonly misspelt: readonly (readonly number[])[];
  readonly found: number;
  readonly equal: number;
}

function figuresOf(entries: number, size: string, { perEntry, rounds, misspelt, found, equal }: Measured): Figure[] {
  const figure = { benchmark: 'memory-search', unit: 'ms' } as const;
  const target = { atMost: entries <= SMALL ? SMALL_MILLISECONDS : LARGE_MILLISECONDS };
  return [
    { ...figure, name: `search of ${size}`, ...summarize(rounds.flat()) },
    {
      ...figure,
      name: `95 of 100 searches of ${size}`,
      target,
      ...summarize(rounds.map(slowOf)),
    },
    {
      ...figure,
      name: `95 of 100 searches with a misspelt word, ${size}`,
      target,
      ...summarize(misspelt.map(slowOf)),
    },
    {
      ...figure,
      name: `an entry with the words in a row among the first 10, ${size}`,
      unit: '%',
      target: { atLeast: FOUND_PERCENT },
      ...exactly(found),
    },
    {
      ...figure,
      name: `rounds with the results of the first, ${size}`,
      unit: 'rounds',
      target: { atLeast: ROUNDS },
      ...exactly(equal),
    },
    {
      ...figure,
      name: `indexing an entry, off the step path, ${size}`,
      target: { atMost: INDEXING_MILLISECONDS },
      ...exactly(perEntry),
    },
  ];
}

/** What 95 of 100 take no longer than. */
function slowOf(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.ceil(0.95 * times.length) - 1] ?? Number.NaN;
}
