import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, afterEach } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../src/context/log/content.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { diskFull } from '../support/disk-full.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { SentMessage } from '../../src/client/types.ts';
import { readCosts } from '../../src/store/conversations/costs.ts';
import { verify } from '../../src/verify/verify.ts';

const harness = useWorkingHarness();

test('a task runs to its answer through a tool call, each step three activities', async () => {
  await writeFile(join(harness.workspace, 'note.txt'), 'the answer is 42\n');
  const turn = await harness.runTask('Call read_file with {"path": "note.txt"}');
  expect(turn).toMatchObject({ outcome: 'completed', steps: 2, compactions: 0, overflows: 0 });
  expect(turn.text).toMatch(/^Done: 1 tool result/u);
  expect(turn.explanation).toBe('The turn completed.');
  const { items: entries } = await harness.client.log.entries({ conversationId: turn.conversationId });
  expect(entries.map((entry) => entry.kind)).toEqual(['user', 'assistant', 'tool_result', 'assistant']);
  expect(JSON.stringify(entries[2]?.content)).toContain('the answer is 42');
});

test('a turn that ends without an answer has no text, and an explanation that says what to do; the conversation goes on', async () => {
  await harness.fault({ kind: 'status', status: 401, times: null });
  const turn = await harness.runTask('Say nothing.');
  await harness.clearFaults();
  expect(turn).toMatchObject({ outcome: 'model_failed', text: '' });
  expect(turn.explanation).toMatch(/then send a message to go on\.$/u);
  const next = await harness.runTask('Say it goes on', { conversationId: turn.conversationId });
  expect(next.outcome).toBe('completed');
});

test('a model whose provider has no key ends the turn at once, says what to set, and the conversation goes on with another model', async () => {
  const refused = await harness.runTask('Say hello.', { model: 'anthropic/claude-sonnet-4-5' });
  expect(refused).toMatchObject({ outcome: 'model_failed', reason: 'provider_key_missing', steps: 0, modelCalls: 0 });
  expect(refused.explanation).toContain('ANTHROPIC_API_KEY');
  const { conversationId } = refused;
  const { items: entries } = await harness.client.log.entries({ conversationId });
  expect(entries.map(({ kind }) => kind)).toEqual(['user']);
  await harness.database`update conversations set model = null where id = ${conversationId}`;
  const mended = await harness.runTask('Say The key is there.', { conversationId });
  expect(mended).toMatchObject({ outcome: 'completed' });
});

test('a provider that the worker does not know ends the turn with its reason', async () => {
  const turn = await harness.runTask('Say hello.', { model: 'nowhere/model' });
  expect(turn).toMatchObject({ outcome: 'model_failed', reason: 'provider_unknown' });
});

async function waits({ conversationId }: { readonly conversationId: string }) {
  const events = await listEvents(harness.database, { conversationId });
  return events.filter(({ kind }) => kind === 'turn_waiting').map(({ data }) => data);
}

test('a message for an agent or a preset that no worker knows waits and says so, and a stop ends the wait', async () => {
  const asked = [
    { choice: { agent: 'nobody' }, need: { needs: 'agent', name: 'nobody' }, reason: 'agent_unknown' },
    { choice: { preset: 'nothing' }, need: { needs: 'preset', name: 'nothing' }, reason: 'preset_unknown' },
  ];
  const turns = asked.map(async ({ choice, need, reason }) => {
    const sent = await harness.client.start('Say hello.', { ...choice });
    await waitUntil('the wait is told', async () => (await waits(sent)).length > 0);
    expect(await waits(sent)).toEqual([{ reason: 'no_worker', ...need }]);
    expect(await harness.client.conversation.get(sent)).toMatchObject({ turn: null, workerNeed: need });
    await harness.client.conversation.stop({ conversationId: sent.conversationId });
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
    expect(turn).toMatchObject({ outcome: 'interrupted', reason });
  });
  await Promise.all(turns);
});

test('agents and tools that one worker has alone are waited for, and used while it lives among others', async () => {
  const { client } = harness;
  let other: RunningWorker | null = null;
  const convert = defineTool({
    name: 'convert',
    description: 'Converts.',
    input: z.object({ last: z.boolean() }),
    effect: 'none',
    run: ({ last }) => {
      if (last) other?.shutdown();
      return Promise.resolve({ content: 'converted' });
    },
  });
  const startOther = () => harness.startWorker({ agent: { name: 'other', tools: ['convert'] }, tools: [convert] });
  const call = (last: boolean) => `Call convert with {"last":${last}}`;
  const calls = [call(true), call(false)];
  const sent = await client.start([...calls, 'Say done.'].join('\n'), { agent: 'other' });
  await waitUntil('the wait is told', async () => (await waits(sent)).length > 0);
  other = await startOther();
  await other.ended;
  await waitUntil(
    'the tool is waited for',
    async () => (await client.conversation.get(sent)).turn?.state === 'waiting_for_worker',
  );
  expect((await client.conversation.get(sent)).workerNeed).toEqual({ needs: 'tool', name: 'convert' });
  expect((await waits(sent)).at(-1)).toEqual({ reason: 'no_worker', needs: 'tool', name: 'convert' });
  await startOther();
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'completed', steps: 3 });
  expect((await client.conversation.get(sent)).workerNeed).toBeNull();
  const { items: entries } = await client.log.entries(sent);
  const results = entries.filter(({ kind }) => kind === 'tool_result').map(({ content }) => textOf(content));
  expect(results).toEqual(calls.map(() => 'converted'));
});

test('a command for a conversation whose model cannot be asked ends too', async () => {
  const { conversationId } = await harness.runTask('Say hello.');
  await harness.database`update conversations set model = 'anthropic/claude-sonnet-4-5' where id = ${conversationId}`;
  const asked = await harness.client.conversation.compact({ conversationId });
  const turn = await harness.client.conversation.outcome({ ...asked, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'model_failed', reason: 'provider_key_missing' });
});

test('start shows the reason and ends with exit code 1', async () => {
  const { code, stdout } = await runInProcess(['start', 'Say hello.', '--model', 'anthropic/claude-sonnet-4-5'], {
    environment: { ...harness.environment, ANTHROPIC_API_KEY: 'only-the-client-has-it' },
  });
  expect(code).toBe(1);
  expect(stdout).toContain('The worker has no key');
});

test('work that fails ten times, and not because of an outage, ends the turn as interrupted with one code; the next message goes on', async () => {
  const { client, database } = harness;
  // A limit of Postgres is exceeded, which no waiting mends.
  const broken = await diskFull(database, 'insert on model_attempts', '54000');
  const sent = await client.start('Say hello');
  const { conversationId } = sent;
  const failing = async () =>
    (await database`select from conversations where id = ${conversationId} and failures <> '{}'`).length === 1;
  await waitUntil('a failure is counted', failing);
  await database`
    update conversations set failures = (select jsonb_object_agg(key, 9) from jsonb_each(failures))
    where id = ${conversationId}`;
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'interrupted', reason: 'repeated_failure' });
  expect(turn.explanation).toContain('failed ten times');
  expect(await failing()).toBe(false);
  await broken.end();
  expect((await harness.runTask('Say hello', { conversationId })).outcome).toBe('completed');
});

afterEach(() => harness.clearFaults());

/** A conversation of two turns, and the answer of the first: a place to fork at with something to summarize behind it. */
async function twoTurns(): Promise<{ conversationId: string; entryId: string }> {
  const { conversationId } = await harness.runTask('Say The first answer.');
  const { items: entries } = await harness.client.log.entries({ conversationId });
  await harness.runTask('Say The second answer.', { conversationId });
  return { conversationId, entryId: entries.find(({ kind }) => kind === 'assistant')?.entryId ?? '' };
}

async function outcomeOf(sent: SentMessage): Promise<string | null> {
  return (await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 })).outcome;
}

async function events(conversationId: string): Promise<readonly string[]> {
  const rows = await harness.database<{ kind: string }[]>`
    select kind from events where conversation_id = ${conversationId} order by number`;
  return rows.map(({ kind }) => kind);
}

/** The request that was cut off counts as paid, for what was estimated, in the turn, its conversation and the costs. */
async function expectPaidOnce(conversationId: string): Promise<void> {
  const { database } = harness;
  const [stopped] = await database<{ id: string; calls: number; tokens: string; input: string }[]>`
    select t.id, count(*)::int as calls, sum(m.input_tokens) as tokens, t.input_tokens as input
    from turns t join model_attempts m on m.turn_id = t.id and m.purpose = 'summary_part' and m.failure_kind = 'lost'
    where t.conversation_id = ${conversationId} and t.outcome = 'stopped' group by t.id`;
  expect(stopped).toMatchObject({ calls: 1, tokens: stopped?.input });
  expect(Number(stopped?.tokens)).toBeGreaterThan(10);
  const { invariants, repeatedCalls } = await verify(database, { conversationId });
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  expect(repeatedCalls).toEqual([]);
  const costs = await readCosts(database, { by: 'turn', since: null, conversationId });
  const [sums] = await database<
    { input: string }[]
  >`select input_tokens as input from conversations where id = ${conversationId}`;
  expect(costs.reduce((sum, { input }) => sum + input, 0)).toBe(Number(sums?.input));
}

test('a stop while a branch is summarized ends the change of branch with what was sent behind it, and the next message is answered where it was', async () => {
  const { conversationId, entryId } = await twoTurns();
  const before = await harness.requests();
  await harness.fault({ kind: 'hang', times: null, match: { purpose: 'summary' } });
  const forked = await harness.client.branches.fork({ conversationId, entryId });
  await expect.poll(async () => (await harness.asked()).summary).toBe(before.summary + 1);
  const sent = await harness.client.conversation.send({ conversationId, content: 'Say I am on the new branch.' });
  await harness.client.conversation.stop({ conversationId });
  expect([await outcomeOf(forked), await outcomeOf(sent)]).toEqual(['stopped', 'stopped']);
  await expectPaidOnce(conversationId);
  const turn = await harness.runTask('Say I am still here.', { conversationId });
  expect(turn.outcome).toBe('completed');
  const { requests, summary } = await harness.requests();
  expect(summary).toBe(before.summary + 1);
  expect(JSON.stringify(requests.slice(before.total))).not.toContain('on the new branch');
  expect(await events(conversationId)).toContain('branch_refused');
  expect(await harness.client.branches.list({ conversationId })).toHaveLength(1);
});
