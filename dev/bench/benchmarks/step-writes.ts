import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { runTurn } from '../measured-turn.ts';
import { exactly } from '../statistics.ts';
import { readsDuring } from '../table-reads.ts';

const FEW_STEPS = 10;
const MANY_STEPS = 60;

/** A worker that rests renews its row all the time. */
const RESTING_MILLISECONDS = 5_000;

interface Counters {
  readonly statements: number;
  readonly commits: number;
  readonly walBytes: number;
}

interface Writes extends Counters {
  readonly rowVersions: number;
  readonly byTable: ReadonlyMap<string, number>;
}

/**
 * What a step with one tool call costs Postgres: the difference of a turn of 60 steps and one of 10, divided by 50, so that
 * what a turn writes once is not in it. Everything that the worker does meanwhile counts, but for what a resting one does too.
 */
export async function measureStepWrites(stack: BenchStack): Promise<Figure[]> {
  const few = await writesOfTurn(stack, FEW_STEPS);
  const many = await writesOfTurn(stack, MANY_STEPS);
  const perStep = (read: (writes: Writes) => number): number => (read(many) - read(few)) / (MANY_STEPS - FEW_STEPS);
  const figure = { benchmark: 'step-writes' } as const;
  const figures: Figure[] = [
    { ...figure, name: 'statements of a step', unit: 'queries', ...exactly(perStep((w) => w.statements)) },
    { ...figure, name: 'writing transactions of a step', unit: 'queries', ...exactly(perStep((w) => w.commits)) },
    {
      ...figure,
      name: 'row versions of a step',
      unit: 'rows',
      target: { atMost: 12.6 },
      ...exactly(perStep((w) => w.rowVersions)),
    },
    {
      ...figure,
      name: 'WAL of a step',
      unit: 'bytes',
      target: { atMost: 5_413 },
      ...exactly(perStep((w) => w.walBytes)),
    },
  ];
  for (const table of many.byTable.keys()) {
    const rows = perStep(({ byTable }) => byTable.get(table) ?? 0);
    if (rows >= 0.05) figures.push({ ...figure, name: `of ${table}`, unit: 'rows', ...exactly(rows) });
  }
  return figures;
}

async function writesOfTurn(stack: BenchStack, steps: number): Promise<Writes> {
  const { database } = stack;
  // The first turn of a worker fills its caches.
  await runTurn(stack, 2);
  await logStatements(stack, true);
  let counted = { statements: 0, commits: 0, walBytes: 0 };
  try {
    const tables = await readsDuring(database, async () => {
      const resting = await countDuring(stack, async () => delay(RESTING_MILLISECONDS));
      const began = performance.now();
      const working = await countDuring(stack, async () => runTurn(stack, steps));
      const share = (performance.now() - began) / RESTING_MILLISECONDS;
      counted = {
        statements: working.statements - share * resting.statements,
        commits: working.commits - share * resting.commits,
        walBytes: working.walBytes - share * resting.walBytes,
      };
    });
    // A worker renews its row by the clock, not by the step.
    const ofSteps = tables.filter(({ table }) => table !== 'workers');
    const byTable = new Map(ofSteps.map(({ table, written }) => [table, written]));
    return { ...counted, rowVersions: [...byTable.values()].reduce((sum, rows) => sum + rows, 0), byTable };
  } finally {
    await logStatements(stack, false);
  }
}

async function countDuring(stack: BenchStack, work: () => Promise<unknown>): Promise<Counters> {
  const before = await readCounters(stack);
  await work();
  const after = await readCounters(stack);
  return {
    statements: after.statements - before.statements,
    commits: after.commits - before.commits,
    walBytes: after.walBytes - before.walBytes,
  };
}

/** The server's log is the one place that counts the statements of all connections: pg_stat_statements is not preloaded. */
async function logStatements({ database }: BenchStack, on: boolean): Promise<void> {
  await database.unsafe(`alter system set log_statement = '${on ? 'all' : 'none'}'`);
  await database`select pg_reload_conf()`;
}

async function readCounters({ database, directory }: BenchStack): Promise<Counters> {
  const [row] = await database<{ wal: number; transactions: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal,
      pg_snapshot_xmax(pg_current_snapshot())::text::float8 as transactions`;
  const log = await readFile(join(directory, 'logs', 'postgres.log'), 'utf8');
  const statements = log.match(/LOG: {2}(?:statement|execute [^:]*): /gu)?.length ?? 0;
  return { statements, commits: row?.transactions ?? 0, walBytes: row?.wal ?? 0 };
}
