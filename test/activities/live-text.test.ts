import * as fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { openLiveText } from '../../src/activities/runtime/show-calls.ts';
import type { LiveText } from '../../src/store/log/live-text-channel.ts';

const CALL = { conversationId: 'c', turnId: 't', callNumber: 1, attempt: 2 };

/** Keeps what is sent; each notification waits until `answer` is called, if it is to stall. */
function notifier(stalls = false) {
  const payloads: string[] = [];
  let answer = (): void => undefined;
  const stalled = new Promise<void>((resolve) => {
    answer = resolve;
  });
  return {
    payloads,
    sent: (): LiveText[] => payloads.map((payload): LiveText => JSON.parse(payload)),
    answer: () => answer(),
    notify: async (_: string, payload: string) => {
      payloads.push(payload);
      if (stalls) await stalled;
    },
  };
}

afterEach(() => vi.useRealTimers());

test('text, thinking and the arguments of each tool call are sent apart, each with its own offsets', async () => {
  const database = notifier();
  const live = openLiveText(database, CALL);
  live.write({ kind: 'thinking', text: 'hm' });
  live.write({ kind: 'tool_call', index: 0, name: 'write_file', argumentsText: '{"path":' });
  live.write({ kind: 'tool_call', index: 1, name: 'read_file', argumentsText: '{}' });
  live.write({ kind: 'tool_call', index: 0, argumentsText: `"${'x'.repeat(2_000)}"` });
  live.write({ kind: 'text', text: 'Hello' });
  await live.close();
  const sent = database.sent();
  for (const piece of sent) expect(piece).toMatchObject({ turnId: 't', callNumber: 1, attempt: 2 });
  const calls = sent.filter((piece) => piece.kind === 'tool_call');
  expect(calls.map(({ callIndex, toolName, offset }) => [callIndex, toolName, offset])).toEqual([
    [0, 'write_file', 0],
    [0, 'write_file', 1_200],
    [1, 'read_file', 0],
  ]);
  const first = calls.filter(({ callIndex }) => callIndex === 0).map(({ text }) => text);
  expect(first.join('')).toBe(`{"path":"${'x'.repeat(2_000)}"`);
  expect(sent.filter(({ kind }) => kind !== 'tool_call').map(({ kind, text }) => [kind, text])).toEqual([
    ['thinking', 'hm'],
    ['text', 'Hello'],
  ]);
});

test('text waits at most 60 ms for more of it', async () => {
  vi.useFakeTimers();
  const database = notifier();
  const live = openLiveText(database, CALL);
  for (let time = 0; time < 600; time += 20) {
    live.write({ kind: 'text', text: String(time).padStart(4) });
    await vi.advanceTimersByTimeAsync(20);
    const heard =
      database
        .sent()
        .map(({ text }) => text)
        .join('').length / 4;
    expect(heard).toBeGreaterThanOrEqual(time / 20 + 1 - 3);
  }
  // Batches, not a notification for each piece.
  expect(database.payloads.length).toBeLessThanOrEqual(600 / 60);
});

test('a database that does not answer never holds up the call, and gets nothing of it later', async () => {
  vi.useFakeTimers();
  const database = notifier(true);
  const live = openLiveText(database, CALL);
  for (let piece = 0; piece < 300; piece += 1) {
    live.write({ kind: 'text', text: 'x'.repeat(10_000) });
    await vi.advanceTimersByTimeAsync(60);
  }
  const closing = live.close();
  await vi.advanceTimersByTimeAsync(500);
  await closing;
  expect(database.payloads).toHaveLength(1);
  database.answer();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(database.payloads).toHaveLength(1);
});

test('no piece is too large for a notification, whatever it holds', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 4_000 }),
      fc.string({ maxLength: 200 }),
      async (text, name) => {
        const database = notifier();
        const live = openLiveText(database, { ...CALL, conversationId: 'c'.repeat(36), turnId: 't'.repeat(36) });
        live.write({
          kind: 'tool_call',
          index: 199,
          name: `\u0000${name}`,
          argumentsText: '\u0000'.repeat(1_200) + text,
        });
        await live.close();
        for (const payload of database.payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
        expect(
          database
            .sent()
            .map((piece) => piece.text)
            .join(''),
        ).toBe('\u0000'.repeat(1_200) + text);
      },
    ),
    { numRuns: 30 },
  );
});
