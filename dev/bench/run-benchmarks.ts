import type { BenchStack } from './bench-stack.ts';
import { measureAppend } from './benchmarks/append.ts';
import { measureDeletion } from './benchmarks/deletion.ts';
import { measureDialogues } from './benchmarks/dialogues.ts';
import { measureGrowth } from './benchmarks/growth.ts';
import { measureLoad } from './benchmarks/load.ts';
import { measureHistory } from './benchmarks/history.ts';
import { measureLiveText } from './benchmarks/live-text.ts';
import { measureMemorySearch } from './benchmarks/memory-search.ts';
import { measureRecall } from './benchmarks/recall.ts';
import { measureSearchFeatures } from './benchmarks/search-features.ts';
import { measureMemory } from './benchmarks/memory.ts';
import { measureWorkerMemory } from './benchmarks/worker-memory.ts';
import { measurePlanning } from './benchmarks/planning.ts';
import { measureStepWrites } from './benchmarks/step-writes.ts';
import { measureServer } from './benchmarks/server.ts';
import { measureSteps } from './benchmarks/steps.ts';
import { measureStop } from './benchmarks/stop.ts';
import { measureTakeover } from './benchmarks/takeover.ts';
import { measureThroughput } from './benchmarks/throughput.ts';
import type { Figure } from './figures.ts';
import { isSearch } from './options.ts';
import type { BenchmarkName, BenchOptions } from './options.ts';
import { startRawWorker } from './warm-up.ts';

/** Runs what was asked for, one after another. */
export async function runBenchmarks(
  stack: BenchStack,
  options: Pick<
    BenchOptions,
    'names' | 'rounds' | 'recallData' | 'entries' | 'entriesEach' | 'seed' | 'writesPage' | 'minutes' | 'conversations'
  >,
  events: { readonly signal: AbortSignal; readonly onBegin: (name: string) => void },
): Promise<Figure[]> {
  const figures = await searchFigures(stack, options, events);
  // In a database that is empty before, with a worker of its own.
  if (options.names.includes('load')) figures.push(...(await measureLoad(stack, options, events)));
  // It kills its workers.
  if (options.names.includes('takeover'))
    figures.push(...(await measureTakeover(stack, options.rounds, events.onBegin)));
  const names = options.names.filter((name) => !isSearch(name) && name !== 'load' && name !== 'takeover');
  if (names.length === 0) return figures;
  let worker = await stack.startWorker('holdfast');
  // Memory first, on a worker that has done nothing yet.
  if (names.includes('worker-memory')) {
    events.onBegin('worker-memory');
    figures.push(...(await measureWorkerMemory(stack, worker)));
    await worker.stop();
    worker = await stack.startWorker('holdfast');
  }
  events.onBegin('warm-up');
  await startRawWorker(stack);
  for (const name of names) {
    if (events.signal.aborted) break;
    if (name === 'worker-memory' || isSearch(name)) continue;
    events.onBegin(name);
    figures.push(...(await measure(name, stack, options.rounds)));
  }
  return figures;
}

/** Search needs Postgres alone: before any worker. */
async function searchFigures(
  { database, connections }: BenchStack,
  {
    names,
    recallData,
    entries,
    entriesEach,
    seed,
    writesPage,
  }: Pick<BenchOptions, 'names' | 'recallData' | 'entries' | 'entriesEach' | 'seed' | 'writesPage'>,
  events: { readonly onBegin: (name: string) => void },
): Promise<Figure[]> {
  const figures: Figure[] = [];
  if (names.includes('recall') && recallData !== null) {
    events.onBegin('recall');
    figures.push(...(await measureRecall(database, recallData)));
  }
  if (names.includes('dialogues')) {
    events.onBegin('dialogues');
    figures.push(...(await measureDialogues(database, seed)));
  }
  if (names.includes('search-features')) {
    events.onBegin('search-features');
    figures.push(...(await measureSearchFeatures(database)));
  }
  if (names.includes('memory-search')) {
    events.onBegin('memory-search');
    for (const size of entries) figures.push(...(await measureMemorySearch(database, size, entriesEach)));
  }
  if (names.includes('memory')) {
    const simulatorUrl = connections.simulatorUrl ?? '';
    const { onBegin } = events;
    figures.push(...(await measureMemory(database, { seed, writesPage, simulatorUrl, onBegin })));
  }
  return figures;
}

async function measure(
  name: Exclude<
    BenchmarkName,
    'worker-memory' | 'recall' | 'dialogues' | 'search-features' | 'memory-search' | 'memory' | 'load' | 'takeover'
  >,
  stack: BenchStack,
  rounds: number,
): Promise<Figure[]> {
  switch (name) {
    case 'steps':
      return measureSteps(stack, rounds);
    case 'throughput':
      return measureThroughput(stack, rounds);
    case 'history':
      return measureHistory(stack);
    case 'growth':
      return measureGrowth(stack, rounds);
    case 'planning':
      return measurePlanning(stack, rounds);
    case 'live-text':
      return measureLiveText(stack);
    case 'stop':
      return measureStop(stack, rounds);
    case 'append':
      return measureAppend(stack, rounds);
    case 'deletion':
      return measureDeletion(stack, rounds);
    case 'server':
      return measureServer(stack, rounds);
    case 'step-writes':
      return measureStepWrites(stack);
  }
}
