import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { writtenDialogues } from '../../dev/bench/memory/dialogues/written-dialogues.ts';
import type { Dialogue } from '../../dev/bench/memory/dialogues/written-dialogues.ts';
import { loadEntries } from '../../dev/bench/memory/load-entries.ts';
import { createEmbeddingClient } from '../../src/models/embedder.ts';
import type { Database } from '../../src/store/database/database.ts';
import { indexConversation, searchMemory } from '../../src/store/memory/recall-search.ts';
import type { MeaningSearch } from '../../src/store/search/find-by-meaning.ts';
import { embedBehind } from '../../src/store/search/embeddings.ts';
import { startVectorDatabase } from '../support/vector-database.ts';

/** `npm run test:embeddings`: what a real small model (all-MiniLM-L6-v2) adds to search by words, and whether it harms. */
const PROGRAM = fileURLToPath(new URL('../../scripts/embeddings/serve.py', import.meta.url));
const DIMENSIONS = 384;
const WITHIN = 10;
/** Points that search by meaning may find fewer than words alone. */
const MOST_LOST = 0.5;
/** Per cent of questions that have hardly a word of their answer, which are found among ten. */
const LEAST_FAR = 50;

const sets: readonly (readonly [name: string, dialogues: readonly Dialogue[]])[] = [
  ['written near', await written(false)],
  ['written far', await written(true)],
];

async function written(isFar: boolean): Promise<readonly Dialogue[]> {
  const talks = await writtenDialogues();
  return talks.map(({ turns, questions }) => ({ turns, questions: questions.filter((each) => each.isFar === isFar) }));
}

async function startModel(): Promise<{ readonly url: string; stop(): void }> {
  const python = process.env['HOLDFAST_EMBEDDINGS_PYTHON'];
  if (python === undefined) throw new Error('This needs a model server: run `npm run test:embeddings`.');
  const child = spawn(python, [PROGRAM, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^LISTENING (http\S+)$/.exec(line)?.[1];
    if (url !== undefined) return { url, stop: () => void child.kill('SIGTERM') };
  }
  throw new Error(`The model server ended before it listened (${python}).`);
}

/** Rank of the turn that answers each question, from 0; negative: not found. */
async function ranksOf(
  sql: Database,
  { turns, questions }: Dialogue,
  meaning: MeaningSearch,
): Promise<{ readonly words: number[]; readonly both: number[] }> {
  const times = turns.map(({ saidAt }) => saidAt);
  const { conversationId, entryIds } = await loadEntries(sql, turns.length, (at) => turns[at]?.text ?? '', times);
  await indexConversation(sql, conversationId);
  await embedBehind(sql, meaning.embedder, { signal: new AbortController().signal });
  const ranks: { words: number[]; both: number[] } = { words: [], both: [] };
  for (const { question: query, answer } of questions) {
    for (const way of ['words', 'both'] as const) {
      const found = await searchMemory(sql, { conversationId, query, limit: WITHIN }, way === 'both' ? meaning : null);
      ranks[way].push(found.findIndex(({ entryId }) => entryId === entryIds[answer]));
    }
  }
  return ranks;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Per cent. */
function among(first: number, ranks: readonly number[]): number {
  return (100 * ranks.filter((rank) => rank >= 0 && rank < first).length) / Math.max(1, ranks.length);
}

const [model, store] = await Promise.all([startModel(), startVectorDatabase(DIMENSIONS)]);
try {
  const embedder = createEmbeddingClient(
    { name: 'local', protocol: 'chat', baseUrl: `${model.url}/v1`, apiKey: null },
    { model: 'all-MiniLM-L6-v2', dimensions: DIMENSIONS },
  );
  const meaning: MeaningSearch = { embedder, onFailure: (error) => print(String(error)) };
  print('first / among ten             words    words and meaning');
  for (const [name, dialogues] of sets) {
    const all: { words: number[]; both: number[] } = { words: [], both: [] };
    for (const each of dialogues) {
      const { words, both } = await ranksOf(store.sql, each, meaning);
      all.words.push(...words);
      all.both.push(...both);
    }
    const row = [all.words, all.both].map((ranks) => [among(1, ranks), among(WITHIN, ranks)] as const);
    const shown = row.map((figures) =>
      figures
        .map((figure) => figure.toFixed(1))
        .join(' / ')
        .padStart(12),
    );
    print(`${`${name}, ${all.words.length} questions`.padEnd(26)} ${shown.join('  ')}`);
    const [[wordsFirst, wordsTen], [bothFirst, bothTen]] = row as [[number, number], [number, number]];
    const isHarmed = bothFirst < wordsFirst - MOST_LOST || bothTen < wordsTen - MOST_LOST;
    const isTooFew = name === 'written far' && bothTen < LEAST_FAR;
    if (isHarmed || isTooFew) {
      print(isHarmed ? `MISSED: more than ${MOST_LOST} points below words alone` : `MISSED: less than ${LEAST_FAR} %`);
      process.exitCode = 1;
    }
  }
} finally {
  model.stop();
  await store.close();
}
