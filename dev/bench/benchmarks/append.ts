import type { BenchStack } from '../bench-stack.ts';
import { fillConversation } from '../fill-conversation.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runTurn } from '../measured-turn.ts';
import { median, summarize } from '../statistics.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { newId } from '../../../src/store/database/ids.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';

const APPENDS = 200;
const FEW_ENTRIES = 11;
const MANY_ENTRIES = 30_000;
const TEXT = JSON.stringify([{ type: 'text', text: 'x'.repeat(600) }]);

/**
 * One INSERT of an entry, which the database fences, numbers, checks and sums up, against an INSERT of an
 * equal row into a table with the same columns, checks and indexes and neither triggers nor foreign keys. Statement and
 * commit together, as seen by the client, one of each kind in turn.
 */
export async function measureAppend(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const { database } = stack;
  const { conversationId: template } = await runTurn(stack, 2);
  const stepsOf = (entries: number): number => Math.ceil((entries - 3) / 2);
  const [few, many] = [
    await fillConversation(database, { template, steps: stepsOf(FEW_ENTRIES) }),
    await fillConversation(database, { template, steps: stepsOf(MANY_ENTRIES) }),
  ];
  await database`create table bench_entries (like entries including all)`;
  await database`insert into bench_entries select * from entries`;
  const times = { bare: [] as number[], few: [] as number[], many: [] as number[] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const samples = { bare: [] as number[], few: [] as number[], many: [] as number[] };
      for (let append = 0; append < APPENDS; append += 1) {
        samples.bare.push(await timed(async () => insertBare(database, many.turn, round * APPENDS + append)));
        samples.few.push(await timed(async () => insertEntry(database, few.turn)));
        samples.many.push(await timed(async () => insertEntry(database, many.turn)));
      }
      for (const kind of ['bare', 'few', 'many'] as const) times[kind].push(median(samples[kind]));
    }
  } finally {
    await database`drop table bench_entries`;
  }
  return figures(times);
}

function figures({ bare, few, many }: Record<'bare' | 'few' | 'many', readonly number[]>): Figure[] {
  const ratio = (over: readonly number[], under: readonly number[]) =>
    summarize(over.map((time, round) => time / (under[round] ?? time)));
  const figure = { benchmark: 'append', unit: 'ms' } as const;
  return [
    { ...figure, name: 'bare INSERT', ...summarize(bare) },
    { ...figure, name: 'to 10 entries', ...summarize(few) },
    { ...figure, name: 'to 30,000 entries', ...summarize(many) },
    { ...figure, name: '30,000 entries / bare', unit: '×', target: { atMost: 2 }, ...ratio(many, bare) },
    { ...figure, name: '30,000 entries / 10 entries', unit: '×', target: { atMost: 1.2 }, ...ratio(many, few) },
  ];
}

async function insertEntry(sql: Database, turn: TurnReference): Promise<void> {
  await sql`
    insert into entries (id, conversation_id, kind, slot, turn_id, epoch, content, measurements)
    values (${newId()}, ${turn.conversationId}, 'note', 'plan', ${turn.turnId}, ${turn.epoch}, ${TEXT}::text::json,
      '(600,0,0,0,0,0,600,0,0,0,1)')`;
}

/** The same row, with what the trigger gives in the other table. */
async function insertBare(sql: Database, turn: TurnReference, number: number): Promise<void> {
  await sql`
    insert into bench_entries (id, conversation_id, kind, slot, turn_id, epoch, content, measurements, sequence, branch,
      parent_id, sums)
    values (${newId()}, ${turn.conversationId}, 'note', 'plan', ${turn.turnId}, ${turn.epoch}, ${TEXT}::text::json,
      '(600,0,0,0,0,0,600,0,0,0,1)', ${2 * MANY_ENTRIES + number}, 0, ${turn.turnId}, '(900000,0,0,0,0,0,900000,0,0,0,9000)')`;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
