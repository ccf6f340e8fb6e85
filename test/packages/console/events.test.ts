import { expect, test } from 'vitest';
import { eventLine } from '../../../packages/console/src/conversation/event-line.ts';
import { NOTHING_LIVE, takeUpdate } from '../../../packages/console/src/conversation/live.ts';

const event = (sequence: number, kind: string, data: Record<string, unknown> = {}) => ({
  sequence,
  kind,
  data,
  turnId: 't',
  createdAt: '2026-11-29T00:00:00Z',
});

test.each([
  [{ reason: 'rate_limit', provider: 'acme', delayMilliseconds: 2_000 }, 'Waited for acme: rate limit, up to 2.0 s.'],
  [{ reason: 'no_worker', needs: 'tool', name: 'convert' }, 'Waited for a worker that has the tool convert.'],
])('a wait says for what: %j', (data, text) => {
  expect(eventLine(event(1, 'turn_waiting', data))?.text).toBe(text);
});

test('a page keeps the events that its timeline shows, however many others come after them', () => {
  let live = takeUpdate(NOTHING_LIVE, { type: 'event', event: event(1, 'decision_made') });
  for (let sequence = 2; sequence < 2_500; sequence += 1) {
    live = takeUpdate(live, { type: 'event', event: event(sequence, 'model_call_started') });
  }
  expect(live.events.map((each) => each.sequence).slice(0, 2)).toEqual([1, 500]);
});
