import type { BenchStack } from './bench-stack.ts';
import { runRawTurn, runTurn } from './measured-turn.ts';
import { newestRequests } from './requests.ts';
import type { BenchWorker } from './workers/worker-process.ts';

/** As many as the longest turn of a comparison has steps, and its last one. */
const RECORDED_STEPS = 36;

/** Compiles and caches on both sides, and records the requests that the raw workflow repeats. Its worker runs from then on. */
export async function startRawWorker(stack: BenchStack): Promise<BenchWorker> {
  await runTurn(stack, RECORDED_STEPS - 1);
  await stack.keepRequests(await newestRequests(stack.connections.simulatorUrl ?? '', RECORDED_STEPS));
  const worker = await stack.startWorker('raw');
  await runRawTurn(stack, RECORDED_STEPS - 1);
  return worker;
}
