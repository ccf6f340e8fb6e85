import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTurnHarness } from '../../support/turn-harness.ts';
import type { TurnHarness } from '../../support/turn-harness.ts';
import { eventsOf, expectWholeLog, killOnceAt, MODEL, readTask, requestBodies, writeLogs } from './scenario.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness({ agent: { model: MODEL, preset: 'goagent' } });
  await writeLogs(harness, 11);
});

afterEach(() => harness.clearFaults());
afterAll(() => harness.stop());

test('G1 killed once in every kind of activity, the pass is made, and nothing is lost', async () => {
  const { conversationId } = await harness.client.startTask({ task: readTask(2), preset: 'goagent', model: MODEL });
  const sent = await harness.client.sendMessage({ conversationId, content: readTask(9), mode: 'queue' });
  await killOnceAt(harness, [
    'beginTurn:written',
    'callModel:stored',
    'runTool:claimed',
    'compactContext:planned',
    'summarize:stored',
    'commitCompaction:written',
    'endTurn:written',
  ]);
  const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  expect(await harness.client.listSummaries({ conversationId })).not.toEqual([]);
  await expectWholeLog(harness, conversationId, 11);
}, 300_000);

test('G4 G11 over five passes each summary is merged with the one before, and what the first knew is still there', async () => {
  let conversationId: string | undefined;
  const codes: string[] = [];
  for (let pass = 1; pass <= 5; pass += 1) {
    const code = `WIN-${pass}00${pass}`;
    codes.push(code);
    const task = `${readTask(8)}\nSay the code of part ${pass} is ${code}`;
    const turn = await harness.runTask(task, {
      ...(conversationId !== undefined && { conversationId }),
      timeoutMilliseconds: 200_000,
    });
    conversationId = turn.conversationId;
    expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  }
  const asked = await harness.runTask('Say done', {
    conversationId: conversationId ?? '',
    timeoutMilliseconds: 100_000,
  });
  const summaries = (await harness.client.listSummaries({ conversationId: asked.conversationId })).toSorted(
    (left, right) => left.generation - right.generation,
  );
  expect(summaries.length).toBeGreaterThanOrEqual(5);
  const rows = await harness.database<{ id: string; previous_id: string | null; first_kept_sequence: number }[]>`
    select id, previous_id, first_kept_sequence from compactions
    where conversation_id = ${asked.conversationId} and status = 'committed' order by number`;
  expect(rows.map((row) => row.previous_id)).toEqual([null, ...rows.slice(0, -1).map((row) => row.id)]);
  for (const row of rows) expect(row.first_kept_sequence).toBeGreaterThan(1);
  const covered = codes.slice(0, 3);
  for (const code of covered) expect(summaries.at(-1)?.text?.includes(code), code).toBe(true);
  const bodies = await requestBodies(harness, 'summary');
  expect(bodies.at(-1)?.includes('<previous_summary>')).toBe(true);
}, 580_000);

test('G10 the summary lists the files that were read', async () => {
  const turn = await harness.runTask(readTask(10), { timeoutMilliseconds: 200_000 });
  const [summary] = await harness.client.listSummaries({ conversationId: turn.conversationId });
  expect(summary?.text).toMatch(/<read-files>\nlog-1\.txt\n[\s\S]*<\/read-files>/);
}, 220_000);

test('G14 the event tells tokens before and after, and how many messages were removed', async () => {
  const turn = await harness.runTask(readTask(10), { timeoutMilliseconds: 200_000 });
  const committed = (await eventsOf(harness, turn.conversationId)).find(({ kind }) => kind === 'compaction_committed');
  const [summary] = await harness.client.listSummaries({ conversationId: turn.conversationId });
  expect(committed?.data).toMatchObject({
    tokensBefore: summary?.tokensBefore,
    tokensAfter: summary?.tokensAfter,
    messagesRemoved: summary?.coveredThroughSequence,
  });
}, 220_000);

test('G17 the end of a turn tells what the window holds: counted by the provider, and estimated after that', async () => {
  const turn = await harness.runTask('Call read_file with {"path": "log-1.txt"}\nSay done');
  const events = await eventsOf(harness, turn.conversationId);
  const answered = events.findLast(({ kind }) => kind === 'model_call_answered')?.data ?? {};
  const ended = events.findLast(({ kind }) => kind === 'turn_ended')?.data ?? {};
  expect(ended['usageTokens']).toBe(Number(answered['inputTokens']) + Number(answered['outputTokens']));
  expect(ended['trailingTokens']).toBe(0);
  expect(Math.abs(Number(ended['contextTokens']) - Number(ended['usageTokens']))).toBeLessThan(200);
});

test('G17 without a count since the newest compaction everything is estimated', async () => {
  const turn = await harness.runTask('Say hello', {});
  const asked = await harness.client.requestCompaction({ conversationId: turn.conversationId });
  await harness.client.waitForOutcome({ ...asked, timeoutMilliseconds: 30_000 });
  const ended =
    (await eventsOf(harness, turn.conversationId)).findLast(({ kind }) => kind === 'turn_ended')?.data ?? {};
  expect(Number(ended['contextTokens'])).toBeGreaterThan(0);
  expect(ended['trailingTokens']).toBeDefined();
});

test('G15 switched off, the provider’s overflow ends the turn', async () => {
  const own = await startTurnHarness({ agent: { model: MODEL, preset: 'goagent', policy: { enabled: false } } });
  try {
    await writeLogs(own, 2);
    await own.startWorker();
    await own.fault({ kind: 'overflow', times: 1, skip: 1, match: { purpose: 'agent' } });
    const turn = await own.runTask(readTask(2));
    expect(turn).toMatchObject({ outcome: 'context_exhausted', overflows: 1, compactions: 0 });
  } finally {
    await own.stop();
  }
}, 120_000);
