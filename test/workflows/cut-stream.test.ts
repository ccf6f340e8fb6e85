import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addLiveText } from '../../src/cli/render/live-text.ts';
import type { LiveText } from '../../src/cli/render/live-text.ts';
import type { LiveTextUpdate } from '../../src/client/types.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness();
});

afterEach(() => harness.clearFaults());
afterAll(() => harness.stop());

test('a stream that is cut is asked for again: who watches sees the next attempt from its start, and the half of a tool call never runs', async () => {
  const { client, database } = harness;
  const content = 'line of text '.repeat(300);
  const call = `Call write_file with {"path": "live.txt", "content": "${content}"}`;
  const sent = await client.startTask({ task: call });
  const { conversationId } = sent;
  const written: LiveTextUpdate[] = [];
  const end = new AbortController();
  const watching = (async () => {
    for await (const update of client.watch({ conversationId, signal: end.signal }))
      if (update.type === 'live_text') written.push(update.text);
  })();
  await waitUntil('the watcher listens', async () => {
    const [row] = await database`
      select 1 from pg_stat_activity where query like ${`%holdfast_live_${conversationId}%`} and pid <> pg_backend_pid()`;
    return row !== undefined;
  });
  await harness.fault({ kind: 'cut_stream', afterBytes: 2_500, times: 1 });
  await harness.startWorker();
  const turn = await client.waitForOutcome({ ...sent, timeoutMilliseconds: 50_000 });
  expect(turn).toMatchObject({ outcome: 'completed', steps: 2 });
  await waitUntil('the last words are heard', () =>
    written.some(({ callNumber, kind }) => callNumber === 2 && kind === 'text'),
  );
  end.abort();
  await watching;

  const tries = await client.listModelCalls({ conversationId });
  expect(tries.map(({ callNumber, attempt, state }) => [callNumber, attempt, state])).toEqual([
    [1, 1, 'failed'],
    [1, 2, 'answered'],
    [2, 1, 'answered'],
  ]);
  const runs = await database`select attempt, state from tool_calls where turn_id = ${turn.turnId}`;
  expect([...runs]).toEqual([{ attempt: 1, state: 'finished' }]);
  expect(await readFile(join(harness.workspace, 'live.txt'), 'utf8')).toBe(content);

  const calls = written.filter(({ callNumber }) => callNumber === 1);
  const first = calls.filter(({ attempt }) => attempt === 1);
  expect(first.length).toBeGreaterThan(0);
  const second = calls.filter(({ attempt, kind }) => attempt === 2 && kind === 'tool_call');
  expect(second[0]?.offset).toBe(0);
  expect(JSON.parse(second.map(({ text }) => text).join(''))).toEqual({ path: 'live.txt', content });
  // A screen drops what the attempt before had written, however late a piece of it comes.
  let shown: LiveText | null = null;
  for (const update of [...calls, ...first]) shown = addLiveText(shown, update);
  expect(shown?.attempt).toBe(2);
  expect(shown?.calls.size).toBe(1);
  expect(JSON.parse(shown?.calls.get(0)?.arguments.shown ?? '')).toEqual({ path: 'live.txt', content });
});
