import { describeError, errorLines } from '../../src/cli/describe-error.ts';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { endOnSignals, untilSignalled } from '../../src/cli/interruption.ts';
import { startBenchStack } from './bench-stack.ts';
import { errorWordingsBench } from './error-wordings/error-wordings-bench.ts';
import { allTargetsMet, checkedExitCode } from './figures.ts';
import { describeMachine } from './machine.ts';
import { parseOptions } from './options.ts';
import type { BenchOptions } from './options.ts';
import { formatMachine, formatTable, toJson } from './report.ts';
import { runBenchmarks } from './run-benchmarks.ts';

/** Progress is no result: it goes where a pipe does not read. */
const remark = (text: string): void => void process.stderr.write(`${text}\n`);

async function bench(options: BenchOptions, signal: AbortSignal): Promise<boolean> {
  const started = performance.now();
  // Before our own load.
  const machine = describeMachine();
  if (machine.load > machine.cores) {
    remark(`the machine is busy (load ${machine.load} on ${machine.cores} cores): do not judge by this run`);
  }
  remark('starting Postgres, Temporal and the simulator');
  const stack = await startBenchStack({ durable: options.durable, signal });
  try {
    const figures = await runBenchmarks(stack, options, { signal, onBegin: (name) => remark(`measuring: ${name}`) });
    if (signal.aborted) return false;
    const seconds = Math.round((performance.now() - started) / 1_000);
    console.log(`${formatTable(figures)}\n\n${formatMachine(machine)}; ${options.rounds} rounds, ${seconds} s`);
    const { durable, rounds } = options;
    if (options.json) console.log(JSON.stringify(toJson(figures, { machine, durable, rounds, seconds })));
    return allTargetsMet(figures);
  } catch (error) {
    // What waits is cut off by Ctrl-C.
    if (signal.aborted) return false;
    throw error;
  } finally {
    await stack.stop();
  }
}

async function main(): Promise<void> {
  endOnSignals();
  try {
    const [name, ...rest] = process.argv.slice(2);
    if (name === 'error-wordings') {
      errorWordingsBench(rest, console.log);
      return;
    }
    const options = parseOptions(process.argv.slice(2));
    if (options === null) return;
    const { result: met, interrupted } = await untilSignalled((signal) => bench(options, signal));
    if (interrupted) process.exitCode = EXIT_CODES.interrupted.code;
    else process.exitCode = checkedExitCode(options.check, met);
  } catch (error) {
    const described = describeError(error);
    process.exitCode = described.exit === 'usage' ? EXIT_CODES.usage.code : 1;
    process.stderr.write(`${errorLines(described).join('\n')}\n`);
    if (process.env['HOLDFAST_DEBUG'] === '1' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  }
}

await main();
