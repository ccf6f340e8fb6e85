import { setMaxListeners } from 'node:events';
import { remark, runProgram } from '../command-line.ts';
import { startBenchStack } from './bench-stack.ts';
import { errorWordingsBench } from './error-wordings/error-wordings-bench.ts';
import { allTargetsMet } from './figures.ts';
import { describeMachine } from './machine.ts';
import { parseOptions } from './options.ts';
import { formatMachine, formatTable, toJson } from './report.ts';
import { runBenchmarks } from './run-benchmarks.ts';

async function bench(signal: AbortSignal): Promise<number | null> {
  const [name, ...rest] = process.argv.slice(2);
  if (name === 'error-wordings') {
    errorWordingsBench(rest, console.log);
    return 0;
  }
  const options = parseOptions(process.argv.slice(2));
  if (options === null) return 0;
  const started = performance.now();
  // Before our own load.
  const machine = describeMachine();
  if (machine.load > machine.cores) {
    remark(`the machine is busy (load ${machine.load} on ${machine.cores} cores): do not judge by this run`);
  }
  remark('starting Postgres, Temporal and the simulator');
  const { durable, rounds, check, json } = options;
  // Many turns are waited for at once.
  setMaxListeners(0, signal);
  const stack = await startBenchStack({ durable, signal });
  try {
    const figures = await runBenchmarks(stack, options);
    if (signal.aborted) return null;
    const seconds = Math.round((performance.now() - started) / 1_000);
    console.log(`${formatTable(figures)}\n\n${formatMachine(machine)}; ${rounds} rounds, ${seconds} s`);
    if (json) console.log(JSON.stringify(toJson(figures, { machine, durable, rounds, seconds })));
    return check && !allTargetsMet(figures) ? 1 : 0;
  } catch (error) {
    // What waits is cut off by Ctrl-C.
    if (signal.aborted) return null;
    throw error;
  } finally {
    await stack.stop();
  }
}

await runProgram(bench);
