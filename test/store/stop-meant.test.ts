import { expect, test } from 'vitest';
import type { MessageKind } from '../../src/store/messages/messages.ts';
import { isStopMeant } from '../../src/store/messages/stops.ts';

test.each<[waiting: string, meant: boolean]>([
  ['', false],
  ['message', false],
  ['stop', false],
  ['stop stop', false],
  // Something waited before it.
  ['message stop', true],
  ['resume stop', true],
  ['compact stop', true],
  ['switch stop', true],
  // A fork with the message that is answered behind it.
  ['fork message stop', true],
  // Before it was what is over.
  ['stop message', false],
  ['stop resume', false],
  ['stop compact', false],
  ['stop fork message', false],
  ['stop switch', false],
  // The user goes on.
  ['message stop message', false],
  ['message stop resume', false],
  ['resume stop message', false],
  ['compact stop message', false],
  ['message stop compact message', false],
  ['message stop message stop', true],
  ['message stop stop', true],
  ['stop message stop', true],
  // Another command does not say so.
  ['message stop compact', true],
  ['resume stop compact', true],
  ['message compact stop compact', true],
  ['message stop fork', true],
  ['message stop switch', true],
  ['switch stop compact', true],
  // It does when there is nothing but the same command to stop.
  ['compact stop compact', false],
  ['compact stop compact stop', true],
])('of "%s" the stop is meant for the turn that begins: %s', (waiting, meant) => {
  expect(isStopMeant(waiting.split(' ').filter(Boolean) as MessageKind[])).toBe(meant);
});
