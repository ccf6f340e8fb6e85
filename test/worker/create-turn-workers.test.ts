import { IllegalStateError } from '@temporalio/common';
import { expect, test } from 'vitest';
import { runTogether } from '../../src/worker/create-turn-workers.ts';

/** A worker that serves until it is shut down, and then ends as it is told. */
function servingWorker(end: () => Promise<void> = () => Promise.resolve()) {
  let isOver = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  return {
    getState: () => 'RUNNING' as const,
    run: () => over.then(end),
    shutdown: () => isOver(),
  };
}

const failingWorker = {
  getState: () => 'FAILED' as const,
  run: () => Promise.reject(new Error('its queue is refused')),
  shutdown: () => undefined,
};

test('when one of the workers of a process fails, the others end too, and the failure is told', async () => {
  await expect(runTogether([failingWorker, servingWorker()]).run()).rejects.toThrow('its queue is refused');
  await expect(runTogether([servingWorker(), failingWorker]).run()).rejects.toThrow('its queue is refused');
});

test('after a shutdown unfinished work is no failure, and another error is one', async () => {
  const late = servingWorker(() => Promise.reject(new IllegalStateError('Worker still in use')));
  const workers = runTogether([late, servingWorker()]);
  const ended = workers.run();
  workers.shutdown();
  expect(await ended).toBeUndefined();
  const broken = runTogether([servingWorker(() => Promise.reject(new Error('no heap left')))]);
  const failed = broken.run();
  broken.shutdown();
  await expect(failed).rejects.toThrow('no heap left');
});
