import { expect, test } from 'vitest';
import { createUpdateQueue } from '../../src/client/update-queue.ts';

const UNBOUNDED = { most: Infinity, mayBeDropped: () => false };

test('the reader gets items in order, those pushed before and while it waits, then the end', async () => {
  const queue = createUpdateQueue<number>(UNBOUNDED);
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
  const queue = createUpdateQueue<number>(UNBOUNDED);
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

test('a reader that stands still loses the oldest of what may be dropped, and nothing else', async () => {
  const queue = createUpdateQueue<string>({ most: 3, mayBeDropped: (item) => item.startsWith('text') });
  queue.push('event 1');
  for (const number of [1, 2, 3, 4, 5]) queue.push(`text ${number}`);
  queue.push('event 2');
  queue.end();
  const read: string[] = [];
  for await (const item of queue) read.push(item);
  expect(read).toEqual(['event 1', 'text 3', 'text 4', 'text 5', 'event 2']);
});

test('who pushes what is always kept waits for the reader, and is let go when nobody reads any more', async () => {
  const queue = createUpdateQueue<number>({ most: 2, mayBeDropped: () => false });
  const pushed: number[] = [];
  const pushing = (async () => {
    for (let number = 1; (await queue.room()) && number <= 9; number += 1) {
      queue.push(number);
      pushed.push(number);
    }
  })();
  await new Promise(setImmediate);
  expect(pushed).toEqual([1, 2]);
  const read: number[] = [];
  for await (const number of queue) {
    read.push(number);
    expect(pushed.length - read.length).toBeLessThanOrEqual(2);
    if (number === 5) break;
  }
  queue.end();
  await pushing;
  expect(read).toEqual([1, 2, 3, 4, 5]);
  expect(pushed.length).toBeLessThan(9);
});
