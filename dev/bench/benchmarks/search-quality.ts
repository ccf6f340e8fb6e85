import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Database } from '../../../src/store/database/database.ts';
import type { Figure, Target } from '../figures.ts';
import { writtenDialogues } from '../memory/dialogues/written-dialogues.ts';
import { featureSets } from '../memory/features/feature-sets.ts';
import type { SourceFile } from '../memory/features/feature-sets.ts';
import { searchTexts } from '../memory/search-texts.ts';
import { exactly } from '../statistics.ts';

const FACT = z.object({ id: z.string(), text: z.string() });
const QUESTION = z.object({
  qid: z.string(),
  question: z.string(),
  gold: z.array(z.string()),
  update: z.object({ new_fact: z.string() }).optional(),
});

/**
 * How well search finds what was said. The folder holds `facts.jsonl` (id, text; in order of being told) and
 * `questions.jsonl` (question, ids of the facts that answer it, optionally a later fact that changes the
 * answer). Questions of even and odd number are reported apart: one half to develop on, one to judge by.
 */
export async function measureRecall(sql: Database, folder: string): Promise<Figure[]> {
  const facts = await readLines(join(folder, 'facts.jsonl'), FACT);
  const questions = await readLines(join(folder, 'questions.jsonl'), QUESTION);
  const updates = questions.flatMap(({ qid, update }) =>
    update === undefined ? [] : [{ id: updateId(qid), text: update.new_fact }],
  );
  const ask = async (told: readonly z.infer<typeof FACT>[]): Promise<string[][]> => {
    const texts = told.map(({ text }) => text);
    const queries = questions.map(({ question }) => question);
    const found = await searchTexts(sql, { texts }, queries, 20);
    return found.map((indexes) => indexes.map((index) => told[index]?.id ?? ''));
  };
  const [told, updated] = [await ask(facts), updates.length === 0 ? [] : await ask([...facts, ...updates])];
  const figures: Figure[] = [];
  for (const [remainder, half] of ['even', 'odd'].entries()) {
    const isOfHalf = (_: unknown, index: number): boolean => index % 2 === remainder;
    const asked = questions.filter(isOfHalf);
    const goldRank = (ids: readonly string[], at: number): number =>
      ids.findIndex((id) => asked[at]?.gold.includes(id));
    const ranks = told.filter(isOfHalf).map(goldRank);
    const note = (name: string, value: number, target: Target): void =>
      void figures.push(percentFigure('recall', `${name}, ${half} questions`, value, target));
    note('answer first', within(ranks, 1), { atLeast: 95 });
    note('answer among 10', within(ranks, 10), { atLeast: 70 });
    if (updates.length === 0) continue;
    const newer = updated.filter(isOfHalf).filter((ids, at) => {
      const [old, update] = [goldRank(ids, at), ids.indexOf(updateId(asked[at]?.qid ?? ''))];
      return update >= 0 && (old < 0 || update < old);
    });
    note('newer fact first', (100 * newer.length) / Math.max(1, asked.length), { atLeast: 88 });
  }
  const needSeveral = questions.flatMap(({ gold }, at) => {
    const ranks = gold.map((id) => told[at]?.indexOf(id) ?? -1);
    return gold.length < 2 ? [] : [ranks.includes(-1) ? -1 : Math.max(...ranks)];
  });
  return [...figures, ...sharesWithin('recall', 'all of several facts', needSeveral, [10])];
}

function updateId(qid: string): string {
  return `update of ${qid}`;
}

async function readLines<Schema extends z.ZodType>(file: string, schema: Schema): Promise<z.output<Schema>[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

/**
 * How often the one turn that answers is among the first: months of talk of two people, asked for in other words, once with
 * questions that have a word of the answer, and once with such that have hardly one.
 */
export async function measureDialogues(sql: Database): Promise<Figure[]> {
  const ranks: Record<'near' | 'far', number[]> = { near: [], far: [] };
  for (const { turns, questions } of await writtenDialogues()) {
    const said = { texts: turns.map(({ text }) => text), times: turns.map(({ saidAt }) => saidAt) };
    const found = await searchTexts(
      sql,
      said,
      questions.map(({ question }) => question),
    );
    for (const [at, { answer, isFar }] of questions.entries())
      ranks[isFar ? 'far' : 'near'].push(found[at]?.indexOf(answer) ?? -1);
  }
  return [
    ...sharesWithin('dialogues', 'near', ranks.near, [1, 3, 10], { atLeast: 70 }),
    ...sharesWithin('dialogues', 'far', ranks.far, [1, 3, 10]),
  ];
}

/** What the search finds of words that are misspelt, quoted, parts of identifiers or paths, or of languages without spaces. */
export async function measureSearchFeatures(sql: Database): Promise<Figure[]> {
  const ranks = new Map<string, number[]>();
  for (const { name, questions, ...said } of await featureSets(await sourceFiles())) {
    const found = await searchTexts(
      sql,
      said,
      questions.map(({ query }) => query),
    );
    const ofSet = questions.map(({ answers }, at) => (found[at] ?? []).findIndex((index) => answers.includes(index)));
    ranks.set(name, [...(ranks.get(name) ?? []), ...ofSet]);
  }
  return [...ranks].flatMap(([name, found]) => sharesWithin('search-features', name, found, [1, 10]));
}

const LONGEST_FILE = 8_000;

/** Every second file of this project's own sources. */
async function sourceFiles(): Promise<readonly SourceFile[]> {
  const listed = execFileSync('git', ['ls-files', 'src/**/*.ts'], { encoding: 'utf8' }).trim().split('\n');
  const paths = listed.filter((_, index) => index % 2 === 0);
  return Promise.all(
    paths.map(async (path) => ({ path, text: (await readFile(path, 'utf8')).slice(0, LONGEST_FILE) })),
  );
}

/** Per cent of ranks from 0 that are among the first; a negative one was not found. */
function within(ranks: readonly number[], first: number): number {
  return (100 * ranks.filter((rank) => rank >= 0 && rank < first).length) / Math.max(1, ranks.length);
}

/** The target holds for the most of them. */
function sharesWithin(
  benchmark: string,
  name: string,
  ranks: readonly number[],
  among: readonly number[],
  target?: Target,
): Figure[] {
  return among.map((first) => {
    const figure = `${name}: answer among ${first}, of ${ranks.length} questions`;
    return percentFigure(benchmark, figure, within(ranks, first), first === Math.max(...among) ? target : undefined);
  });
}

function percentFigure(benchmark: string, name: string, value: number, target: Target | undefined): Figure {
  return { benchmark, name, unit: '%', ...(target !== undefined && { target }), ...exactly(value) };
}
