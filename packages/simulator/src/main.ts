import type { SimulatorOptions } from './options.ts';
import { startSimulator, type Simulator } from './server.ts';

/**
 * Starts the simulator, tells where it listens, and serves until the signal is aborted.
 * @throws as `startSimulator` does
 */
export async function serveSimulator(
  options: SimulatorOptions,
  until: { readonly signal: AbortSignal; readonly onListening: (simulator: Simulator) => void },
): Promise<void> {
  const simulator = await startSimulator(options);
  until.onListening(simulator);
  await new Promise<void>((resolve) => {
    if (until.signal.aborted) resolve();
    else until.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await simulator.close();
}
