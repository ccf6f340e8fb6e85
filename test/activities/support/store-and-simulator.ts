import { afterAll, beforeAll } from 'vitest';
import { startSimulator } from '../../../packages/simulator/src/index.ts';
import type { Simulator } from '../../../packages/simulator/src/index.ts';
import { openTestStore } from '../../store/support/store-builders.ts';
import type { TestStore } from '../../store/support/store-builders.ts';

export interface StoreAndSimulator {
  readonly store: TestStore;
  readonly simulator: Simulator;
}

/** A database and a model for all tests of a file: opened before the first, closed after the last. */
export function useStoreAndSimulator(opened: (both: StoreAndSimulator) => void): void {
  let both: StoreAndSimulator | undefined;
  beforeAll(async () => {
    const [store, simulator] = await Promise.all([openTestStore(), startSimulator({ port: 0 })]);
    both = { store, simulator };
    opened(both);
  });
  afterAll(async () => {
    await both?.simulator.close();
    await both?.store.close();
  });
}

/** Calls that the simulator was asked so far. */
export async function asked({ url }: Simulator): Promise<number> {
  const { total } = (await (await fetch(`${url}/control/requests?last=0`)).json()) as { total: number };
  return total;
}

/** Makes the simulator fail; see `packages/simulator/src/faults/fault.ts`. */
export async function fault({ url }: Simulator, given: Readonly<Record<string, unknown>>): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/control/faults`, { method: 'POST', headers, body: JSON.stringify(given) });
  if (!response.ok) throw new Error(`the simulator refused: ${await response.text()}`);
}
