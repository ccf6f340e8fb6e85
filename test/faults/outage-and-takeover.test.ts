import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../src/context/log/content.ts';
import { listLateToolResults } from '../../src/store/attempts/tool-calls.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { diskFull } from '../support/disk-full.ts';
import type { FullDisk } from '../support/disk-full.ts';
import { endOpenAttempts } from '../support/end-open-attempts.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { nothingIsBroken } from './steady-turn.ts';

const PATIENCE_MILLISECONDS = 50_000;

let runs = 0;
let fill = (): Promise<FullDisk> => Promise.reject(new Error('no test runs'));
let full: FullDisk | undefined;

/** Acts, and then the disk is full. */
const publish = defineTool({
  name: 'publish',
  description: 'Publishes.',
  input: z.object({}),
  effect: 'once',
  timeout: 200,
  async run() {
    runs += 1;
    full = await fill();
    return { content: `receipt ${runs}` };
  },
});

/** What the worker says when the next attempt joins the storing. */
const GIVEN_UP = /goes on with what the attempt before has begun/u;
const given: string[] = [];

const harness = useTurnHarness({
  tools: [publish],
  agent: { tools: ['publish'] },
  log: (line) => GIVEN_UP.test(line) && given.push(line),
});

beforeAll(async () => {
  fill = () => diskFull(harness.database);
  await harness.startWorker();
}, 120_000);

/** Temporal takes the worker for dead, and gives it the next attempt. */
async function isGivenUp(conversationId: string): Promise<void> {
  given.length = 0;
  await endOpenAttempts(harness.temporal, conversationId);
  await waitUntil('the next attempt waits for what runs', () => given.length >= 1);
}

async function tries(table: 'tool_calls' | 'model_attempts', conversationId: string) {
  return harness.database`
    select attempt, state from ${harness.database(table)} where conversation_id = ${conversationId}
    order by call_number, attempt`;
}

test(
  'a result of a once tool is not lost when Temporal gives its activity up while Postgres is away: the next attempt finds it',
  { timeout: 120_000 },
  async () => {
    const sent = await harness.client.start('Call publish with {}');
    const { conversationId } = sent;
    await waitUntil('the result waits', async () => ((await full?.refusals()) ?? 0) >= 1);
    await isGivenUp(conversationId);
    await full?.end();
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: PATIENCE_MILLISECONDS });
    expect(turn).toMatchObject({ outcome: 'completed' });
    const { items: entries } = await harness.client.log.entries({ conversationId });
    const results = entries.filter(({ kind }) => kind === 'tool_result').map(({ content }) => textOf(content));
    expect(results).toEqual(['receipt 1']);
    expect(runs).toBe(1);
    expect(await tries('tool_calls', conversationId)).toEqual([{ attempt: 1, state: 'finished' }]);
    expect(await listLateToolResults(harness.database, [turn.turnId ?? ''])).toEqual([]);
    await nothingIsBroken(harness);
  },
);

test(
  'an answer that came is not bought again when Temporal gives its activity up while Postgres is away',
  { timeout: 120_000 },
  async () => {
    const before = (await harness.asked()).agent;
    await harness.fault({ kind: 'delay', milliseconds: 1_000, times: 1 });
    const sent = await harness.client.start('Say hello');
    const { conversationId } = sent;
    const asked = async (): Promise<boolean> => (await tries('model_attempts', conversationId)).length === 1;
    await waitUntil('the model is asked', asked);
    const disk = await diskFull(harness.database);
    await waitUntil('the answer waits', async () => (await disk.refusals()) >= 1);
    await isGivenUp(conversationId);
    const refusals = await disk.refusals();
    await waitUntil('the answer still waits', async () => (await disk.refusals()) >= refusals + 2);
    await disk.end();
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: PATIENCE_MILLISECONDS });
    expect(turn).toMatchObject({ outcome: 'completed', steps: 1 });
    expect((await harness.asked()).agent - before).toBe(1);
    expect(await tries('model_attempts', conversationId)).toEqual([{ attempt: 1, state: 'answered' }]);
    await nothingIsBroken(harness);
  },
);
