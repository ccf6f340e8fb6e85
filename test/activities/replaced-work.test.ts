import { z } from 'zod';
import { expect, test, onTestFinished } from 'vitest';
import { closeToolCall } from '../../src/activities/tool/decisions.ts';
import { runTool } from '../../src/activities/tool/run-tool.ts';
import { textOf } from '../../src/context/log/content.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { listLateToolResults, readToolCall } from '../../src/store/attempts/tool-calls.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { useTestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { CALL, toolResults, turnCalling } from './support/tool-calls.ts';
import { startHttpServer } from '../support/http-server.ts';
import { modelCall, summary } from './support/asking-work.ts';

const { sql } = useTestStore();

/** A tool that hears of no end, and what lets it return or fail. */
function deafTool(timeout?: number) {
  let settle: { readonly end: (content: string) => void; readonly fail: () => void } | null = null;
  let isRunning = false;
  const tool = defineTool({
    name: 'transfer',
    description: 'Transfers.',
    input: z.object({}),
    effect: 'once',
    ...(timeout !== undefined && { timeout }),
    run: () =>
      new Promise<{ content: string }>((resolve, reject) => {
        settle = { end: (content) => resolve({ content }), fail: () => reject(new Error('too late')) };
        isRunning = true;
      }),
  });
  return {
    tool,
    isRunning: () => isRunning,
    end: (content: string) => settle?.end(content),
    fail: () => settle?.fail(),
  };
}

async function begin(deaf: ReturnType<typeof deafTool>) {
  const turn = await turnCalling(sql, deaf.tool);
  const abort = new AbortController();
  const dependencies = activityDependencies(sql, { tools: [deaf.tool] });
  const running = runTool(dependencies, { turn, ...CALL }, execution({ signal: abort.signal }));
  await waitUntil('the tool runs', () => deaf.isRunning());
  return { turn, running, abort };
}

const results = (turn: TurnReference): Promise<string[]> => toolResults(sql, turn);

const lateResults = async (turn: TurnReference): Promise<string[]> =>
  (await listLateToolResults(sql, [turn.turnId])).map(({ content }) => textOf(content));

const stop = (turn: TurnReference) =>
  endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall({ secrets: [] }));

test('what a tool that ignores a stop comes to is kept as a late result, once its call was told as of unknown outcome', async () => {
  const deaf = deafTool();
  const { turn, running, abort } = await begin(deaf);
  abort.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('tool call aborted');
  await stop(turn);
  expect(await results(turn)).toEqual([expect.stringContaining('Outcome unknown')]);
  deaf.end('sent 5 euros');
  await waitUntil('it is kept', async () => (await lateResults(turn)).length > 0);
  expect(await lateResults(turn)).toEqual(['sent 5 euros']);
  expect(await results(turn)).toHaveLength(1);
});

test('what a tool that ignores a takeover comes to is kept as the late result of its attempt', async () => {
  const deaf = deafTool();
  const { turn, running } = await begin(deaf);
  const superseded = expect(running).rejects.toMatchObject({ type: 'SupersededAttempt', nonRetryable: false });
  await runTool(activityDependencies(sql, { tools: [deaf.tool] }), { turn, ...CALL }, execution({ attempt: 2 }));
  await superseded;
  expect(await results(turn)).toEqual([expect.stringContaining('Outcome unknown')]);
  deaf.end('sent 5 euros');
  await waitUntil('it is kept', async () => (await lateResults(turn)).length > 0);
  expect(await lateResults(turn)).toEqual(['sent 5 euros']);
});

test('a tool that ignores a stop and ends before its call is closed has its result', async () => {
  const deaf = deafTool();
  const { turn, running, abort } = await begin(deaf);
  abort.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('tool call aborted');
  deaf.end('sent 5 euros');
  await waitUntil('it is stored', async () => (await readToolCall(sql, { ...turn, ...CALL })).state === 'finished');
  await stop(turn);
  expect(await results(turn)).toEqual(['sent 5 euros']);
  expect(await lateResults(turn)).toEqual([]);
});

test('what a tool comes to behind its time limit is a late result, and a failure there is none', async () => {
  const [late, failing] = [deafTool(1), deafTool(1)];
  const first = await begin(late);
  const second = await begin(failing);
  expect([await first.running, await second.running]).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
  failing.fail();
  late.end('sent 5 euros');
  await waitUntil('it is kept', async () => (await lateResults(first.turn)).length > 0);
  expect(await lateResults(first.turn)).toEqual(['sent 5 euros']);
  expect(await lateResults(second.turn)).toEqual([]);
  expect(await results(first.turn)).toEqual([expect.stringContaining('It did not react, so it may still go on.')]);
});

const WORK = [
  ['model call', modelCall],
  ['summary', summary],
] as const;

test.for(WORK)(
  'a worker that wakes up after Temporal gave its %s to another one does not ask the model for it',
  async ([, begin]) => {
    const server = await startHttpServer((_, response) => response.writeHead(500).end('{}'));
    onTestFinished(() => server.close());
    const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
    const { attempt: work } = await begin(sql);
    await expect(work(dependencies, execution({ attempt: 2 }))).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
    await expect(work(dependencies, execution({ attempt: 1 }))).rejects.toMatchObject({ code: 'superseded_attempt' });
    expect(server.requests).toHaveLength(1);
    // The next attempt, and those of another activity or run, which have no order with it, ask.
    for (const other of [{ attempt: 3 }, { activityId: '2' }, { runId: 'after a reset' }])
      await expect(work(dependencies, execution(other))).rejects.toThrow();
    expect(server.requests).toHaveLength(4);
  },
);

/** Answers of a turn, and summaries of its conversation. */
async function stored({ conversationId, turnId }: TurnReference): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select (select count(*) from entries where turn_id = ${turnId} and kind = 'assistant')::int
      + (select count(*) from compaction_parts where conversation_id = ${conversationId} and state = 'written')::int as count`;
  return row?.count ?? 0;
}

test.each(
  WORK.flatMap(([name, begin]) => (['turn', 'try'] as const).map((replaced) => [name, replaced, begin] as const)),
)('the request for a %s whose %s was replaced is aborted, and nothing of it is stored', async (_, replaced, begin) => {
  // Answers nobody: only the worker can end a request.
  const server = await startHttpServer(() => undefined);
  onTestFinished(() => server.close());
  const { turn, attempt } = await begin(sql);
  const before = await stored(turn);
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  const failed = expect(attempt(dependencies, execution())).rejects.toMatchObject({
    code: replaced === 'turn' ? 'stale_epoch' : 'superseded_attempt',
  });
  await waitUntil('the model is asked', () => server.requests.length === 1);
  const successor = new AbortController();
  let taking: Promise<unknown> = Promise.resolve();
  if (replaced === 'try') {
    taking = attempt(dependencies, execution({ attempt: 2, signal: successor.signal })).catch(() => undefined);
  } else await sql`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
  await server.disconnected(0);
  await failed;
  successor.abort();
  await taking;
  expect(await stored(turn)).toBe(before);
});
