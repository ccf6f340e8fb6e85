import { afterEach, beforeAll, expect, test } from 'vitest';
import { runInProcess } from '../cli/run-in-process.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { writeLogs } from './presets/scenario.ts';

/** Lines of the worker's log. */
const logged: string[] = [];
const TASK = 'Call read_file with {"path": "log-$index.txt"} 4 times, one by one';

const harness = useTurnHarness({ log: (line) => logged.push(line) });

beforeAll(async () => {
  await writeLogs(harness, 4, 190);
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());

/** A command of the user in this process, against the harness. */
async function shown(...args: readonly string[]): Promise<string> {
  const options = { environment: harness.environment, directory: harness.workspace };
  const { code, stdout, stderr } = await runInProcess(args, options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function windows(conversationId: string): Promise<number[]> {
  const rows = await harness.database<{ window: number }[]>`
    select (coalesce(t.model_limits, model_in_force(t) -> 'modelLimits') ->> 'window')::int as window from turns t
    where conversation_id = ${conversationId} order by begun_at`;
  return rows.map((row) => row.window);
}

test('a smaller window that an error names counts from then on, at that server, until it is forgotten', async () => {
  await harness.fault({ kind: 'overflow', limit: 10_000, times: 1, skip: 4, match: { purpose: 'agent' } });
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 1, compactions: 1 });
  const { conversationId } = turn;
  const learned = await harness.database`select model, server, learned_window as tokens from model_facts`;
  expect([...learned]).toEqual([{ model: 'simulator/sim-32k', server: harness.simulatorUrl, tokens: 10_000 }]);
  await harness.runTask('Say on', { conversationId });
  // Named by the server it was learned of; forgotten, it is shown no more.
  const learnedLine = /^ {2}at http:\/\/127\.0\.0\.1:\d+ +10,000 +named in an error, \d{4}-\d\d-\d\d$/m;
  expect(await shown('model', 'list', 'simulator/sim-32k')).toMatch(learnedLine);
  await harness.database`update model_facts set learned_at = learned_at - interval '31 days'`;
  expect(await shown('model', 'list', 'simulator/sim-32k')).not.toContain('named in an error');
  await harness.runTask('Say forgotten', { conversationId });
  expect(await windows(conversationId)).toEqual([10_000, 10_000, 32_768]);
});

test('what the server itself lists of a model counts for the next turn, and can make it larger too', async () => {
  const model = 'simulator/sim-32k';
  await harness.client.models.storeServed({ model, server: harness.simulatorUrl, window: 40_000, maximumOutput: null });
  expect(await harness.client.models.listServed()).toMatchObject([{ model, window: 40_000, maximumOutput: null }]);
  const { conversationId } = await harness.runTask('Say listed');
  expect(await windows(conversationId)).toEqual([40_000]);
  await harness.database`delete from model_facts`;
});

test("a refusal that nothing repairs ends the turn with the vendor's words, which nobody logs, and the conversation goes on", async () => {
  const message = 'The frobnication level of this heron is out of tune.';
  await harness.fault({ kind: 'status', status: 400, body: { error: { message } }, match: { purpose: 'agent' } });
  const turn = await harness.runTask('Say hello');
  expect(turn).toMatchObject({ outcome: 'model_failed' });
  expect(turn.explanation).toContain(message);
  const refusals = logged
    .filter((line) => line.includes('model call refused'))
    .map((line) => JSON.parse(line) as unknown);
  expect(refusals).toEqual([
    expect.objectContaining({
      msg: 'model call refused',
      conversationId: turn.conversationId,
      model: 'simulator/sim-32k',
      status: 400,
      evidence: 'unrecognised HTTP 400',
    }),
  ]);
  expect(logged.join('')).not.toMatch(/frobnication|heron/);
  expect(await harness.history(turn.conversationId)).not.toContain('frobnication');
  const next = await harness.runTask('Say it goes on', { conversationId: turn.conversationId });
  expect(next.outcome).toBe('completed');
});

test('a refusal for the number of messages is repaired like an overflow', async () => {
  const words =
    "Invalid 'messages': array too long. Expected an array with maximum length 8, but got an array with length 10.";
  await harness.fault({
    kind: 'status',
    status: 400,
    body: { error: { message: words } },
    skip: 3,
    match: { purpose: 'agent' },
  });
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 1, compactions: 1 });
});

test('cost adds up by agent, model and conversation since a time, and a sum that lacks a price is unknown', async () => {
  const { conversationId } = await harness.runTask('Say priced');
  const { conversationId: unpriced } = await harness.runTask('Say unpriced', { model: 'simulator-chat/sim-64k' });
  await harness.database.begin(async (sql) => {
    // Past the fence, as the turns have ended: the simulator's prices are 0.
    await sql`set local role none`;
    await sql`set local session_replication_role = replica`;
    await sql`update model_attempts set cost = 0.5 where conversation_id = ${conversationId}`;
    await sql`update model_attempts set cost = null where conversation_id = ${unpriced}`;
  });
  const byModel = await shown('cost', '--by', 'model', '--since', '1h');
  expect(byModel).toMatch(/^simulator\/sim-32k .* \$0\.5000$/m);
  expect(byModel).toMatch(/^simulator-chat\/sim-64k +1 .* unknown for 1$/m);
  expect(byModel).toMatch(/^all .* unknown for 1, at least \$0\.5000$/m);
  expect(await shown('cost', '--by', 'agent')).toMatch(/^default .* unknown for 1, at least \$0\.5000$/m);
  const byConversation = await shown('cost', '--by', 'conversation');
  expect(byConversation).toMatch(new RegExp(`^${conversationId} .* \\$0\\.5000$`, 'm'));
  expect(byConversation).toMatch(new RegExp(`^${unpriced} .* unknown for 1$`, 'm'));
  expect(await shown('cost', '--by', 'conversation', '--since', '2999-01-01')).toBe(
    'No model call was paid in this time.\n',
  );
});
