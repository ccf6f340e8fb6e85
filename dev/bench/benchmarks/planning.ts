import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_COMPACTION_SETTINGS, JsonlSessionRepo, prepareCompaction } from '@earendil-works/pi-agent-core';
import { NodeExecutionEnv } from '@earendil-works/pi-agent-core/node';
import { budgetFor } from '../../../src/context/policy/budget.ts';
import { NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { NO_MEASUREMENTS } from '../../../src/context/log/measurements.ts';
import { outlineTable } from '../../../src/context/log/outline-table.ts';
import type { OutlineTable } from '../../../src/context/log/outline-table.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import type { PlanInput } from '../../../src/context/plan/plan.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { DEFAULT_POLICY } from '../../../src/context/policy/presets/default.ts';
import { PI_POLICY } from '../../../src/context/policy/presets/pi.ts';
import { readPlanSource } from '../../../src/store/compactions/fit-check.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runTurn } from '../measured-turn.ts';
import { planningLog, sessionFile, storeLog } from '../planning-log.ts';
import type { PlanningLog } from '../planning-log.ts';
import { alternate, ratios, summarize } from '../statistics.ts';
import { measureCheck } from './check-before-call.ts';

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
export async function measurePlanning(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const { conversationId: template } = await runTurn(stack, 2);
  const few = planningLog(FEW, TOKENS);
  const many = planningLog(MANY, TOKENS);
  const inMemory = await planInMemory(few, many, rounds);
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

function planInput(log: PlannedLog, policy: CompactionPolicy): PlanInput {
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

/** As the store gives it to planning. */
interface PlannedLog {
  readonly outlines: OutlineTable;
  readonly turnId: string;
}

function plan(log: PlannedLog, policy: CompactionPolicy): void {
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

async function planInMemory(few: PlanningLog, many: PlanningLog, rounds: number): Promise<Figure[]> {
  // Both have the log as their store reads it: columns here, objects there.
  const fewSizes = { outlines: outlineTable(few.outlines), turnId: few.turnId };
  const manySizes = { outlines: outlineTable(many.outlines), turnId: many.turnId };
  const sides = {
    'theirs few': () => fastest(() => prepare(few.session)),
    'pi few': () => fastest(() => plan(fewSizes, PI_POLICY)),
    'default few': () => fastest(() => plan(fewSizes, DEFAULT_POLICY)),
    theirs: () => fastest(() => prepare(many.session)),
    pi: () => fastest(() => plan(manySizes, PI_POLICY)),
    default: () => fastest(() => plan(manySizes, DEFAULT_POLICY)),
  };
  await alternate(1, sides);
  const times = await alternate(rounds, sides);
  const figure = { benchmark: 'planning', unit: 'ms' } as const;
  const ratio = { benchmark: 'planning', unit: '×' } as const;
  const [theirs, pi, ours] = [times('theirs'), times('pi'), times('default')];
  const [theirsFew, piFew, oursFew] = [times('theirs few'), times('pi few'), times('default few')];
  return [
    { ...figure, name: 'pi-agent-core, 5,000 entries', ...summarize(theirsFew) },
    { ...figure, name: 'preset pi, 5,000 entries', ...summarize(piFew) },
    { ...figure, name: 'default, 5,000 entries', ...summarize(oursFew) },
    { ...figure, name: 'pi-agent-core, 50,000 entries', ...summarize(theirs) },
    { ...figure, name: 'preset pi, 50,000 entries', ...summarize(pi) },
    { ...figure, name: 'default, 50,000 entries', ...summarize(ours) },
    { ...ratio, name: 'preset pi / pi-agent-core, 5,000', target: { atMost: 1 }, ...ratios(piFew, theirsFew) },
    { ...ratio, name: 'default / pi-agent-core, 5,000', target: { atMost: 1 }, ...ratios(oursFew, theirsFew) },
    { ...ratio, name: 'preset pi / pi-agent-core, 50,000', target: { atMost: 1 }, ...ratios(pi, theirs) },
    { ...ratio, name: 'default / pi-agent-core, 50,000', target: { atMost: 1 }, ...ratios(ours, theirs) },
    { ...ratio, name: 'preset pi, 50,000 / 5,000', target: { atMost: 12 }, ...ratios(pi, piFew) },
    { ...ratio, name: 'default, 50,000 / 5,000', target: { atMost: 12 }, ...ratios(ours, oursFew) },
  ];
}

async function planFromStorage(
  { database }: BenchStack,
  { stored, file, rounds }: { stored: TurnReference; file: string; rounds: number },
): Promise<Figure[]> {
  const repository = new JsonlSessionRepo({ fs: new NodeExecutionEnv({ cwd: tmpdir() }), sessionsRoot: tmpdir() });
  const sides = {
    ours: async () => {
      const started = performance.now();
      const source = await readPlanSource(database, stored);
      plan({ outlines: source.entries, turnId: stored.turnId }, PI_POLICY);
      return performance.now() - started;
    },
    theirs: async () => {
      const started = performance.now();
      const session = await repository.open({ id: 'bench', createdAt: '', cwd: '/', path: file });
      prepare(await session.getBranch());
      return performance.now() - started;
    },
  };
  await alternate(1, sides);
  const times = await alternate(rounds, sides);
  const [ours, theirs] = [times('ours'), times('theirs')];
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
