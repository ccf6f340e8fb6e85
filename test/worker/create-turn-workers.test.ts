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

const together = (...workers: Parameters<typeof runTogether>[0]) => {
  const calls: string[] = [];
  const note = (call: string) => async () => void calls.push(call);
  return { ...runTogether(workers, { grace: 60_000, graceOver: note('over'), close: note('closed') }), calls };
};

test('when one of the workers of a process fails, the others end too, and the failure is told', async () => {
  await expect(together(failingWorker, servingWorker()).ended).rejects.toThrow('its queue is refused');
  await expect(together(servingWorker(), failingWorker).ended).rejects.toThrow('its queue is refused');
});

test('after a shutdown unfinished work is no failure, and another error is one', async () => {
  const late = servingWorker(() => Promise.reject(new IllegalStateError('Worker still in use')));
  const workers = together(late, servingWorker());
  workers.shutdown();
  expect(await workers.ended).toBeUndefined();
  expect(workers.calls).toEqual(['over', 'closed']);
  const broken = together(servingWorker(() => Promise.reject(new Error('no heap left'))));
  broken.shutdown();
  await expect(broken.ended).rejects.toThrow('no heap left');
  expect(broken.calls).toEqual(['over', 'closed']);
});
