import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_COMPACTION_SETTINGS, JsonlSessionRepo, prepareCompaction } from '@earendil-works/pi-agent-core';
import { NodeExecutionEnv } from '@earendil-works/pi-agent-core/node';
import { countNextRequest } from '../../src/activities/plan-pass.ts';
import { readFit } from '../../src/activities/read-fit.ts';
import { budgetFor } from '../../src/context/budget.ts';
import { NO_CALIBRATION } from '../../src/context/estimate.ts';
import { NO_MEASUREMENTS } from '../../src/context/measurement-arithmetic.ts';
import { planCompaction } from '../../src/context/plan-compaction.ts';
import type { PlanInput } from '../../src/context/plan.ts';
import type { CompactionPolicy } from '../../src/context/policy.ts';
import { DEFAULT_POLICY } from '../../src/context/presets/default.ts';
import { PI_POLICY } from '../../src/context/presets/pi.ts';
import { readPlanSource } from '../../src/store/fit-check.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { runTurn } from '../measured-turn.ts';
import { planningLog, sessionFile, storeLog } from '../planning-log.ts';
import type { PlanningLog } from '../planning-log.ts';
import { exactly, summarize } from '../statistics.ts';
import { countReads } from './count-reads.ts';

const TOKENS = 1_050_000;
const FEW = 5_000;
const MANY = 50_000;
/** For the check that finds nothing to do. */
const SMALL = 500;
const LIMITS = { window: 1_000_000, maximumOutput: 64_000 };
/** Plans of one measurement; the fastest counts: the garbage of one is collected in another. */
const PLANS = 5;

/**
 * Planning a pass for a million tokens against `prepareCompaction` of pi-agent-core on the same log, in memory and from
 * where each keeps its log; and the check before a call that finds nothing to do, in a short and in a long conversation.
 */
export async function measurePlanning(stack: BenchStack, rounds: number): Promise<Figure[]> {
  const { conversationId: template } = await runTurn(stack, 2);
  const few = planningLog(FEW, TOKENS);
  const many = planningLog(MANY, TOKENS);
  const inMemory = planInMemory(few, many, rounds);
  const stored = await storeLog(stack.database, many, template);
  const file = join(tmpdir(), `holdfast-bench-${process.pid}.jsonl`);
  try {
    await writeFile(file, sessionFile(many));
    const fromStorage = await planFromStorage(stack, { stored, file, rounds });
    const small = await storeLog(stack.database, planningLog(SMALL, TOKENS / 100), template);
    return [...inMemory, ...fromStorage, ...(await measureCheck(stack, { small, large: stored, rounds }))];
  } finally {
    await rm(file, { force: true });
  }
}

function planInput(log: Pick<PlanningLog, 'outlines' | 'turnId'>, policy: CompactionPolicy): PlanInput {
  return {
    policy,
    budget: budgetFor(policy, LIMITS),
    calibration: NO_CALIBRATION,
    summarizer: LIMITS,
    fixed: NO_MEASUREMENTS,
    entries: log.outlines,
    summary: null,
    operations: [],
    turnId: log.turnId,
    reason: 'threshold',
  };
}

function plan(log: Pick<PlanningLog, 'outlines' | 'turnId'>, policy: CompactionPolicy): void {
  const result = planCompaction(planInput(log, policy));
  if (result.kind !== 'planned') throw new TypeError(`a million tokens must be compacted, not ${result.kind}`);
}

function prepare(session: PlanningLog['session']): void {
  const result = prepareCompaction([...session], DEFAULT_COMPACTION_SETTINGS);
  if (!result.ok || result.value === undefined) throw new TypeError('the package must prepare a compaction');
}

function fastest(work: () => void): number {
  let best = Infinity;
  for (let count = 0; count < PLANS; count += 1) {
    const started = performance.now();
    work();
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

function planInMemory(few: PlanningLog, many: PlanningLog, rounds: number): Figure[] {
  const sides = {
    theirsFew: () => prepare(few.session),
    piFew: () => plan(few, PI_POLICY),
    defaultFew: () => plan(few, DEFAULT_POLICY),
    theirs: () => prepare(many.session),
    pi: () => plan(many, PI_POLICY),
    default: () => plan(many, DEFAULT_POLICY),
  };
  const names = Object.keys(sides) as (keyof typeof sides)[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<keyof typeof sides, number[]>;
  for (const name of names) fastest(sides[name]);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) times[name].push(fastest(sides[name]));
  }
  const figure = { benchmark: 'planning', unit: 'ms' } as const;
  const ratio = { benchmark: 'planning', unit: '×' } as const;
  return [
    { ...figure, name: 'pi-agent-core, 5,000 entries', ...summarize(times.theirsFew) },
    { ...figure, name: 'preset pi, 5,000 entries', ...summarize(times.piFew) },
    { ...figure, name: 'default, 5,000 entries', ...summarize(times.defaultFew) },
    { ...figure, name: 'pi-agent-core, 50,000 entries', ...summarize(times.theirs) },
    { ...figure, name: 'preset pi, 50,000 entries', ...summarize(times.pi) },
    { ...figure, name: 'default, 50,000 entries', ...summarize(times.default) },
    { ...ratio, name: 'preset pi / pi-agent-core, 50,000', target: { atMost: 1 }, ...ratios(times.pi, times.theirs) },
    {
      ...ratio,
      name: 'default / pi-agent-core, 50,000',
      target: { atMost: 1 },
      ...ratios(times.default, times.theirs),
    },
    { ...ratio, name: 'preset pi, 50,000 / 5,000', target: { atMost: 12 }, ...ratios(times.pi, times.piFew) },
    { ...ratio, name: 'default, 50,000 / 5,000', target: { atMost: 12 }, ...ratios(times.default, times.defaultFew) },
  ];
}

function ratios(over: readonly number[], under: readonly number[]) {
  return summarize(over.map((time, round) => time / (under[round] ?? time)));
}

async function planFromStorage(
  { database }: BenchStack,
  { stored, file, rounds }: { stored: TurnReference; file: string; rounds: number },
): Promise<Figure[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  const repository = new JsonlSessionRepo({ fs: new NodeExecutionEnv({ cwd: tmpdir() }), sessionsRoot: tmpdir() });
  const sides = [
    async () => {
      const started = performance.now();
      const source = await readPlanSource(database, stored);
      plan({ outlines: source.entries, turnId: stored.turnId }, PI_POLICY);
      ours.push(performance.now() - started);
    },
    async () => {
      const started = performance.now();
      const session = await repository.open({ id: 'bench', createdAt: '', cwd: '/', path: file });
      prepare(await session.getBranch());
      theirs.push(performance.now() - started);
    },
  ];
  for (const side of sides) await side();
  [ours, theirs].forEach((times) => times.splice(0));
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side();
  }
  const figure = { benchmark: 'planning', unit: 'ms' } as const;
  return [
    { ...figure, name: 'from its session file to its plan, pi-agent-core', ...summarize(theirs) },
    { ...figure, name: 'from Postgres to the plan', ...summarize(ours) },
    {
      benchmark: 'planning',
      unit: '×',
      name: 'file to plan / Postgres to plan, 50,000',
      target: { atLeast: 10 },
      ...ratios(theirs, ours),
    },
  ];
}

const CHECKS = 200;

/** The check before a call in a conversation that fits: one query, whatever its length. */
async function measureCheck(
  { connections, database }: BenchStack,
  { small, large, rounds }: { small: TurnReference; large: TurnReference; rounds: number },
): Promise<Figure[]> {
  // A window in which both fit.
  await database.begin(async (open) => {
    await open`set local session_replication_role = replica`;
    await open`
      update turns set model_limits = '{"window": 100000000, "maximumOutput": 1000}'
      where id in (${small.turnId}, ${large.turnId})`;
  });
  const times: Record<'small' | 'large', number[]> = { small: [], large: [] };
  const reads = await countReads(connections.databaseUrl);
  try {
    const check = async (turn: TurnReference): Promise<void> => {
      if (countNextRequest(await readFit(reads.database, turn)).isDue)
        throw new TypeError('nothing is to be compacted');
    };
    for (const turn of [small, large]) for (let count = 0; count < 20; count += 1) await check(turn);
    for (let round = 0; round < rounds; round += 1) {
      const samples: Record<'small' | 'large', number[]> = { small: [], large: [] };
      for (let count = 0; count < CHECKS; count += 1) {
        for (const [name, turn] of [
          ['small', small],
          ['large', large],
        ] as const) {
          const started = performance.now();
          await check(turn);
          samples[name].push(performance.now() - started);
        }
      }
      for (const name of ['small', 'large'] as const) times[name].push(summarize(samples[name]).median);
    }
    const bytes = {
      small: await reads.during(async () => check(small)),
      large: await reads.during(async () => check(large)),
    };
    const figure = { benchmark: 'planning', unit: 'ms' } as const;
    return [
      { ...figure, name: 'check that finds nothing to do, 500 entries', ...summarize(times.small) },
      { ...figure, name: 'check that finds nothing to do, 50,000 entries', ...summarize(times.large) },
      {
        benchmark: 'planning',
        unit: '×',
        name: 'check, time, 50,000 / 500',
        target: { atMost: 1.2 },
        ...ratios(times.large, times.small),
      },
      {
        benchmark: 'planning',
        unit: '×',
        name: 'check, bytes read, 50,000 / 500',
        target: { atMost: 1.2 },
        ...exactly(bytes.large.bytes / bytes.small.bytes),
      },
      {
        benchmark: 'planning',
        unit: 'queries',
        name: 'check, queries',
        target: { atMost: 1 },
        ...exactly(bytes.large.queries),
      },
    ];
  } finally {
    await reads.database.end();
  }
}
