import { expect, test } from 'vitest';
import { createUpdateQueue } from '../../src/client/update-queue.ts';

test('the reader gets items in order, those pushed before and while it waits, then the end', async () => {
  const queue = createUpdateQueue<number>();
  queue.push(1);
  queue.push(2);
  const read: number[] = [];
  const reading = (async () => {
    for await (const item of queue) {
      read.push(item);
      if (item === 2) setImmediate(() => (queue.push(3), queue.end()));
    }
  })();
  await reading;
  expect(read).toEqual([1, 2, 3]);
});

test('a failure reaches the reader after what came before it', async () => {
  const queue = createUpdateQueue<number>();
  queue.push(1);
  queue.fail(new Error('lost'));
  const read: number[] = [];
  await expect(
    (async () => {
      for await (const item of queue) read.push(item);
    })(),
  ).rejects.toThrow('lost');
  expect(read).toEqual([1]);
});
