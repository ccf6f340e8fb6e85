import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { addLiveText } from '../../src/cli/render/turn/live-text.ts';
import type { LiveText } from '../../src/cli/render/turn/live-text.ts';
import type { LiveTextUpdate } from '../../src/client/types.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const harness = useTurnHarness({ configurationFile: 'providers: { simulator: { idleTimeoutSeconds: 5 } }' });

afterEach(() => harness.clearFaults());

test('a stream that is cut is asked for again: who watches sees the next attempt from its start, and the half of a tool call never runs', async () => {
  const { client, database } = harness;
  const content = 'line of text '.repeat(300);
  const call = `Call write_file with {"path": "live.txt", "content": "${content}"}`;
  const sent = await client.start(call);
  const { conversationId } = sent;
  const written: LiveTextUpdate[] = [];
  const end = new AbortController();
  const watching = (async () => {
    for await (const update of client.conversation.watch({ conversationId, signal: end.signal }))
      if (update.type === 'live_text') written.push(update.text);
  })();
  await waitUntil('the watcher listens', async () => {
    const [row] = await database`
      select 1 from pg_stat_activity where query like ${`%holdfast_live_${conversationId}%`} and pid <> pg_backend_pid()`;
    return row !== undefined;
  });
  await harness.fault({ kind: 'cut_stream', afterBytes: 2_500, times: 1 });
  await harness.startWorker();
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'completed', steps: 2 });
  await waitUntil('the last words are heard', () =>
    written.some(({ callNumber, kind }) => callNumber === 2 && kind === 'text'),
  );
  end.abort();
  await watching;

  const { items: tries } = await client.log.modelCalls({ conversationId });
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

test.each([
  ['does not answer', { kind: 'hang' }],
  ['falls silent in the middle of an answer', { kind: 'stall_stream', afterBytes: 400 }],
])('a model server that %s is given up, asked again, and the turn completes', async (_, fault) => {
  await harness.fault({ ...fault, times: 1 });
  const turn = await harness.runTask('Write 60 words');
  expect(turn).toMatchObject({ outcome: 'completed', steps: 1 });
  const { items: tries } = await harness.client.log.modelCalls({ conversationId: turn.conversationId });
  expect(tries.map(({ attempt, state }) => [attempt, state])).toEqual([
    [1, 'failed'],
    [2, 'answered'],
  ]);
  const { items: entries } = await harness.client.log.entries({ conversationId: turn.conversationId });
  expect(entries.map(({ kind }) => kind)).toEqual(['user', 'assistant']);
});
