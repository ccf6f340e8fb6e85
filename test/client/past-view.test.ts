import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { PastCall, PastView } from '../../src/client/types.ts';
import { useTurnHarness } from '../support/turn-harness.ts';

const FILES = 12;

let conversationId: string;
let calls: readonly PastCall[];

const harness = useTurnHarness({ agent: { model: 'simulator/sim-8k', rules: ['Never touch pump 13.'] } });

beforeAll(async () => {
  for (let file = 1; file <= FILES; file += 1) {
    const lines = Array.from(
      { length: 40 },
      (_, index) => `pump ${file * 100 + index} opens at ${index * 3 + file} bar\n`,
    );
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  await harness.startWorker();
  const turn = await harness.runTask(`Call read_file with {"path": "log-$index.txt"} ${FILES} times, one by one`);
  ({ conversationId } = turn);
  expect(turn.compactions).toBeGreaterThan(0);
  const asked = await harness.client.conversation.send({ conversationId, content: 'Say The second turn is done.' });
  await harness.client.conversation.outcome({ ...asked, timeoutMilliseconds: 240_000 });
  ({ items: calls } = await harness.client.log.modelCalls({ conversationId }));
});

const viewAt = (at?: { turn?: number; callNumber?: number; attempt?: number }): Promise<PastView> =>
  harness.client.log.view({ conversationId, ...at });

test('every call of a compacted conversation is rebuilt byte for byte, long after its compactions', async () => {
  expect(calls.length).toBeGreaterThan(FILES);
  for (const call of calls) {
    const past = await viewAt(call);
    expect(past.call).toEqual(call);
    expect(past.fingerprint).toBe(past.sentFingerprint);
    const tokens = Object.values(call.fill ?? {}).reduce((sum, each) => sum + each, 0);
    expect(Math.abs(tokens - call.estimatedTokens)).toBeLessThan(6);
  }
});

test('a rebuilt view holds what the provider was sent, summary and shortened results included', async () => {
  const { requests } = await harness.requests();
  const sent = requests.filter((request) => request.purpose === 'agent');
  const last = sent.at(-1);
  if (last?.body === undefined) throw new Error('the simulator keeps the newest request');
  const texts = new Set(allTexts(last.body));
  const { view } = await viewAt();
  const expected = view.messages.flatMap((message) =>
    message.role === 'tool_results' ? message.results.flatMap((result) => result.content) : message.content,
  );
  const shown = expected.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  expect(shown.length).toBeGreaterThan(3);
  for (const text of shown) expect([...texts].some((each) => each.includes(text))).toBe(true);
});

test('a view of before a compaction shows what the compaction took away', async () => {
  const views = await Promise.all(calls.map((call) => viewAt(call)));
  const fullest = views.findIndex((past) => JSON.stringify(past.view).includes('pump 139 opens'));
  expect(fullest).toBeGreaterThanOrEqual(0);
  expect(JSON.stringify(views.at(-1)?.view)).not.toContain('pump 139 opens');
});

test('a call is named by turn, call number and try; what is left out means the newest', async () => {
  expect((await viewAt()).call).toMatchObject({ turn: 2, callNumber: 1 });
  expect((await viewAt({ callNumber: 3 })).call).toMatchObject({ turn: 1, callNumber: 3, attempt: 1 });
  expect((await viewAt({ turn: 1 })).call).toEqual(calls.findLast((call) => call.turn === 1));
});

test('a call that was never made is refused with its address', async () => {
  await expect(viewAt({ turn: 1, callNumber: 999 })).rejects.toMatchObject({
    code: 'model_call_not_found',
    message: expect.stringContaining('999 in turn 1') as string,
  });
});

test('the list of calls has every try, oldest first, and takes the newest of many', async () => {
  const keys = calls.map((call) => call.turn * 1_000_000 + call.callNumber * 1_000 + call.attempt);
  expect(keys).toEqual([...keys].sort((left, right) => left - right));
  const newest = await harness.client.log.modelCalls({ conversationId, limit: 2 });
  expect(newest).toEqual({ items: calls.slice(-2), hasMore: true });
  const before = `${newest.items[0]?.turn}.${newest.items[0]?.callNumber}.${newest.items[0]?.attempt}`;
  const older = await harness.client.log.modelCalls({ conversationId, before });
  expect(older).toEqual({ items: calls.slice(0, -2), hasMore: false });
});

/** Every string in a JSON value. */
function allTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(allTexts);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(allTexts) : [];
}
