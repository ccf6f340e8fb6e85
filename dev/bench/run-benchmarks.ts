import { remark } from '../command-line.ts';
import type { BenchStack } from './bench-stack.ts';
import { measureControl } from './benchmarks/control.ts';
import { measureGrowth } from './benchmarks/growth.ts';
import { measureHistory } from './benchmarks/history.ts';
import { measureLoad } from './benchmarks/load.ts';
import { measureMemorySearch } from './benchmarks/memory-search.ts';
import { measureMemory } from './benchmarks/memory.ts';
import { measurePages } from './benchmarks/pages.ts';
import { measurePlanning } from './benchmarks/planning.ts';
import { measureDialogues, measureRecall, measureSearchFeatures } from './benchmarks/search-quality.ts';
import { measureServer } from './benchmarks/server.ts';
import { measureStepWrites } from './benchmarks/step-writes.ts';
import { measureSteps } from './benchmarks/steps.ts';
import { measureTakeover } from './benchmarks/takeover.ts';
import { measureThroughput } from './benchmarks/throughput.ts';
import type { Figure } from './figures.ts';
import type { BenchmarkName, BenchOptions } from './options.ts';
import { startRawWorker } from './warm-up.ts';

interface Benchmark {
  /** It expects a warm worker of Holdfast and one of the raw workflow; others need none, or start their own. */
  readonly needsWorkers?: true;
  readonly run: (stack: BenchStack, options: BenchOptions) => Promise<Figure[]>;
}

const BENCHMARKS: Readonly<Record<BenchmarkName, Benchmark>> = {
  recall: { run: ({ database }, { recallData }) => measureRecall(database, recallData ?? '') },
  dialogues: { run: ({ database }) => measureDialogues(database) },
  'search-features': { run: ({ database }) => measureSearchFeatures(database) },
  'memory-search': { run: ({ database }, options) => measureMemorySearch(database, options) },
  memory: { run: measureMemory },
  load: { run: measureLoad },
  takeover: { run: measureTakeover },
  control: { run: (stack, { rounds }) => measureControl(stack, rounds) },
  pages: { needsWorkers: true, run: measurePages },
  steps: { needsWorkers: true, run: measureSteps },
  throughput: { needsWorkers: true, run: measureThroughput },
  history: { needsWorkers: true, run: measureHistory },
  growth: { needsWorkers: true, run: measureGrowth },
  'step-writes': { needsWorkers: true, run: measureStepWrites },
  planning: { needsWorkers: true, run: measurePlanning },
  server: { needsWorkers: true, run: measureServer },
};

/** Runs what was asked for, one after another: what needs no worker goes first, in a database that is empty before. */
export async function runBenchmarks(stack: BenchStack, options: BenchOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  let hasWorkers = false;
  for (const name of options.names) {
    if (stack.signal.aborted) break;
    const { needsWorkers, run } = BENCHMARKS[name];
    if (needsWorkers && !hasWorkers) {
      remark('warming up');
      await stack.startWorker('holdfast');
      await startRawWorker(stack);
      hasWorkers = true;
    }
    remark(`measuring: ${name}`);
    figures.push(...(await run(stack, options)));
  }
  return figures;
}
