import { EventEmitter } from 'node:events';
import type { Context } from 'hono';
import { expect, test } from 'vitest';
import type { Access } from '../../src/server/access.ts';
import type { Admitted } from '../../src/server/admission.ts';
import { createEventStreams } from '../../src/server/events.ts';
import { serverLimits } from '../../src/server/limits.ts';
import { waitUntil } from '../support/wait-until.ts';

const limits = { ...serverLimits.parse({}), keyCheckSeconds: 0.01 };

/** What a request has when it takes a place. */
function requestOf(keyId: string, isGone = false): Context<Admitted> {
  const outgoing = Object.assign(new EventEmitter(), { destroyed: isGone });
  return { env: { outgoing }, var: { caller: { tenant: '', key: { id: keyId } } } } as unknown as Context<Admitted>;
}

function streamsWith(inForce: Access['inForce'], watchers = 1) {
  return createEventStreams({ ...limits, watchers }, { inForce } as Access, (error) => {
    throw error;
  });
}

test('who left before it had a place keeps none', async () => {
  const streams = streamsWith((keys) => Promise.resolve(new Set(keys)));
  expect(streams.endingOf(requestOf('a', true)).signal.aborted).toBe(true);
  const next = requestOf('a');
  expect(streams.endingOf(next).signal.aborted).toBe(false);
  expect(() => streams.endingOf(requestOf('a'))).toThrow('open event streams');
  next.env.outgoing.emit('close');
  expect(streams.endingOf(requestOf('a')).signal.aborted).toBe(false);
  await streams.close();
});

test('a look at the keys ends streams of revoked ones, and none that opened during the look', async () => {
  const asked: (readonly string[])[] = [];
  let answer = (): void => undefined;
  const streams = streamsWith((keys) => {
    asked.push([...keys]);
    return new Promise((resolve) => (answer = () => resolve(new Set<string>())));
  }, 2);
  const first = streams.endingOf(requestOf('a'));
  await waitUntil('the keys are looked at', () => asked.length === 1);
  const second = streams.endingOf(requestOf('b'));
  answer();
  await waitUntil('the first has ended', () => first.signal.aborted);
  expect([asked[0], second.signal.aborted]).toEqual([['a'], false]);
  await waitUntil('the next look', () => asked.length === 2);
  answer();
  await streams.close();
});
