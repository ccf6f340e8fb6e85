import { expect, test } from 'vitest';
import { diesByOrder } from '../../../dev/soak/strikes.ts';
import type { ProcessExit } from '../../../src/local/guarded-process.ts';

/** A worker that dies at a moment of its order's life, or never. */
function workerThatDies(moment: 'ordered' | 'withdrawn' | null) {
  let exit: () => void = () => undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    exit = () => resolve({ status: 137 });
  });
  const heard: string[] = [];
  const hear = (what: 'ordered' | 'withdrawn') => (): Promise<void> => {
    heard.push(what);
    if (what === moment) exit();
    return Promise.resolve();
  };
  return { heard, worker: { order: hear('ordered'), withdrawOrder: hear('withdrawn'), process: { exited } } };
}

test.each([
  { moment: 'ordered', dies: true },
  // It had read the order before: nobody else struck it.
  { moment: 'withdrawn', dies: true },
  { moment: null, dies: false },
] as const)('an order of death counts as a strike: $dies when the worker dies with it $moment', async (given) => {
  const { worker, heard } = workerThatDies(given.moment);
  expect(await diesByOrder(worker, { points: 'runTool:claimed', patience: 10 })).toBe(given.dies);
  expect(heard).toEqual(['ordered', 'withdrawn']);
});
