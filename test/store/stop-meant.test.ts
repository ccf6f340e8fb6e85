import { expect, test } from 'vitest';
import type { MessageKind, MessageMode } from '../../src/store/messages/messages.ts';
import { isStopMeant, isStopMeantBehind } from '../../src/store/messages/stop-meant.ts';

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

function at(second: number): Date {
  return new Date(second * 1_000);
}

// As an older version wrote them, each with its second; the last turn ended in second 10.
test.each<[waiting: string, meant: boolean]>([
  // The stop was meant for the turn that was over; what was queued behind it is later.
  ['queue@5 stop@10', false],
  ['queue@5 stop@12', false],
  ['queue@5 stop@10 stop@11', false],
  ['steer@5 queue@6 stop@11', false],
  ['queue@5 compact@6 stop@11', false],
  // Nothing was queued that could be.
  ['steer@5 stop@11', true],
  ['compact@5 stop@11', true],
  ['stop@11', false],
  // Sent when the turn was over.
  ['queue@11 stop@11', true],
  ['fork@11 queue@11 stop@11', true],
  // The turn is long over.
  ['queue@5 stop@13', true],
  ['queue@5 stop@11 stop@60', true],
  ['queue@5 stop@60 steer@61', false],
])('of "%s" behind a turn that ended at 10 the stop is meant for the turn that begins: %s', (waiting, meant) => {
  const rows = waiting.split(' ').map((row) => {
    const [word = '', second] = row.split('@');
    const mode: MessageMode = word === 'queue' ? 'queue' : 'steer';
    const kind = (word === 'queue' || word === 'steer' ? 'message' : word) as MessageKind;
    return { kind, mode, sentAt: at(Number(second)), sentEpoch: null };
  });
  expect(isStopMeantBehind(rows, { epoch: 3, endedAt: at(10) })).toBe(meant);
  // Without a turn before, nothing is behind one.
  expect(isStopMeantBehind(rows, null)).toBe(isStopMeant(rows.map(({ kind }) => kind)));
});

// Each with its epoch and its second; the last turn had epoch 3 and ended in second 10, of a clock that was set in between.
test.each<[waiting: string, meant: boolean]>([
  // What was sent during the turn, whatever the time.
  ['queue@3:5 stop@3:9', false],
  ['queue@3:5 stop@3:900', false],
  ['queue@3:900 stop@3:901', false],
  ['queue@2:900 stop@3:9', false],
  ['queue@3:900 stop@4:11', false],
  // The clock stepped back behind the turn's end: how long ago that was is not known.
  ['queue@3:5 stop@4:1', true],
  ['queue@4:5 stop@4:6', true],
  ['queue@4:5 stop@4:9', true],
  // It was corrected by a little.
  ['queue@3:5 stop@4:9', false],
])(
  'of "%s" behind a turn of epoch 3 that ended at 10 the stop is meant for the turn that begins: %s',
  (waiting, meant) => {
    const rows = waiting.split(' ').map((row) => {
      const [, word = '', epoch, second] = /^(\w+)@(\d+):(\d+)$/u.exec(row) ?? [];
      const kind: MessageKind = word === 'queue' ? 'message' : 'stop';
      const mode: MessageMode = word === 'queue' ? 'queue' : 'steer';
      return { kind, mode, sentAt: at(Number(second)), sentEpoch: Number(epoch) };
    });
    expect(isStopMeantBehind(rows, { epoch: 3, endedAt: at(10) })).toBe(meant);
  },
);
