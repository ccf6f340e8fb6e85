import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Database } from '../../../src/store/database/database.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { Figure } from '../figures.ts';
import { loadEntries } from '../memory/load-entries.ts';
import { exactly } from '../statistics.ts';

const FACT = z.object({ id: z.string(), text: z.string() });
const QUESTION = z.object({
  qid: z.string(),
  question: z.string(),
  gold: z.array(z.string()),
  update: z.object({ new_fact: z.string() }).optional(),
});

type Fact = z.infer<typeof FACT>;
type Question = z.infer<typeof QUESTION>;

/** Passages of one search. */
const LIMIT = 20;
const WITHIN = 10;

/** Rank of the first entry of each kind, from 0; `null` when it was not found. */
interface Ranks {
  readonly gold: number | null;
  readonly update: number | null;
}

/**
 * How well search finds what was said. The folder holds `facts.jsonl` (id, text; in order of being told) and
 * `questions.jsonl` (question, ids of the facts that answer it, optionally a later fact that changes the
 * answer). Questions of even and odd number are reported apart: one half to develop on, one to judge by.
 */
export async function measureRecall(sql: Database, folder: string): Promise<Figure[]> {
  const facts = await readLines(join(folder, 'facts.jsonl'), FACT);
  const questions = await readLines(join(folder, 'questions.jsonl'), QUESTION);
  const told = await ask(sql, facts, questions);
  const updates = questions.flatMap(({ qid, update }) =>
    update === undefined ? [] : [{ id: updateId(qid), text: update.new_fact }],
  );
  const updated = updates.length === 0 ? [] : await ask(sql, [...facts, ...updates], questions);
  return ['even', 'odd'].flatMap((half, remainder) => {
    const ofHalf = (ranks: readonly Ranks[]) => ranks.filter((_, index) => index % 2 === remainder);
    return figures(half, ofHalf(told), ofHalf(updated));
  });
}

function figures(half: string, told: readonly Ranks[], updated: readonly Ranks[]): Figure[] {
  const figure = (name: string, share: number, target: Figure['target']): Figure => {
    return {
      benchmark: 'recall',
      name: `${name}, ${half} questions`,
      unit: '%',
      ...(target !== undefined && { target }),
      ...exactly(share),
    };
  };
  const within = (count: number) => percent(told, ({ gold }) => gold !== null && gold < count);
  const newerFirst = percent(updated, ({ gold, update }) => update !== null && (gold === null || update < gold));
  return [
    figure('answer first', within(1), { atLeast: 95 }),
    figure(`answer among ${WITHIN}`, within(WITHIN), { atLeast: 70 }),
    ...(updated.length === 0 ? [] : [figure('newer fact first', newerFirst, { atLeast: 88 })]),
  ];
}

async function ask(sql: Database, facts: readonly Fact[], questions: readonly Question[]): Promise<Ranks[]> {
  const { conversationId, entryIds } = await loadEntries(sql, facts.length, (index) => facts[index]?.text ?? '');
  const factIds = new Map(entryIds.map((id, index) => [id, facts[index]?.id ?? '']));
  await indexConversation(sql, conversationId);
  const ranks: Ranks[] = [];
  for (const { qid, question, gold } of questions) {
    const found = await searchMemory(sql, { conversationId, query: question, limit: LIMIT });
    const ids = found.map(({ entryId }) => factIds.get(entryId) ?? '');
    const first = (wanted: (id: string) => boolean): number | null => {
      const rank = ids.findIndex(wanted);
      return rank < 0 ? null : rank;
    };
    ranks.push({
      gold: first((id) => gold.includes(id)),
      update: first((id) => id === updateId(qid)),
    });
  }
  return ranks;
}

function updateId(qid: string): string {
  return `update of ${qid}`;
}

function percent<Item>(items: readonly Item[], isTrue: (item: Item) => boolean): number {
  return (100 * items.filter(isTrue).length) / Math.max(1, items.length);
}

async function readLines<Schema extends z.ZodType>(file: string, schema: Schema): Promise<z.output<Schema>[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => schema.parse(JSON.parse(line)));
}
