import { z } from 'zod';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { TurnSummary } from '../../src/client/types.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { verify } from '../../src/verify/verify.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import type { CliResult } from '../cli/cli-result.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import type { HarnessOptions, TurnHarness } from '../support/turn-harness.ts';

const acted: string[] = [];
const act = defineTool({
  name: 'act',
  description: 'Acts.',
  input: z.object({ n: z.number() }),
  effect: 'once',
  run: ({ n }) => {
    acted.push(String(n));
    return Promise.resolve({ content: `acted ${n}` });
  },
});

const MANY = 'Call act with {"n": "$index"} 30 times, one by one';

type Limits = NonNullable<NonNullable<HarnessOptions['agent']>['limits']>;

/** Agents by what they are limited to. */
const LIMITS = {
  unlimited: {},
  'two-steps': { steps: 2 },
  rests: { conversation: { idleTime: 60 } },
  'few-tokens': { conversation: { inputTokens: 100 } },
} as const satisfies Readonly<Record<string, Limits>>;

let client: TurnHarness['client'];
let worker: RunningWorker;

const agents = Object.entries(LIMITS).map(([name, limits]) => [name, { tools: ['act'], limits }]);
const harness = useTurnHarness({
  tools: [act],
  configurationFile: JSON.stringify({ agents: Object.fromEntries(agents) }),
});

beforeAll(async () => {
  ({ client } = harness);
  worker = await harness.startWorker();
});

beforeEach(() => {
  acted.length = 0;
});

/** What `work` does while no worker runs. */
async function withoutWorker<Result>(work: () => Promise<Result>): Promise<Result> {
  worker.shutdown();
  await worker.ended;
  const result = await work();
  worker = await harness.startWorker();
  return result;
}

const runTask = (task: string, agent: keyof typeof LIMITS) => harness.runTask(task, { agent });

const cli = (...args: string[]): Promise<CliResult> => runInProcess(args, { environment: harness.environment });

async function endOf(sent: { conversationId: string; messageId: string }): Promise<TurnSummary> {
  const ended = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  if (ended.state !== 'ended') throw new Error(`the turn is ${ended.state}`);
  return ended;
}

test('a task that ended at a limit goes on after a compaction, a fork and a switch, which are no turns of it', async () => {
  const turn = await runTask(MANY, 'two-steps');
  const { conversationId } = turn;
  expect(turn.reason).toBe('step_limit');
  const [first] = (await client.log.entries({ conversationId })).items;
  const commands = [
    () => client.conversation.compact({ conversationId }),
    () => client.branches.fork({ conversationId, entryId: first?.entryId ?? null }),
    () => client.branches.switch({ conversationId, branch: 0 }),
  ];
  for (const command of commands) {
    await endOf(await command());
    await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({ code: 'limit_not_raised' });
    expect(await endOf(await client.conversation.resume({ conversationId, raise: { steps: 2 } }))).toMatchObject({
      outcome: 'budget_exhausted',
      steps: 2,
    });
  }
});

test('a task that is done is not asked for again because a compaction after it was stopped', async () => {
  const { conversationId } = await runTask('Say all done', 'unlimited');
  const compaction = await withoutWorker(async () => {
    const asked = await client.conversation.compact({ conversationId });
    await client.conversation.stop({ conversationId });
    return asked;
  });
  const stopped = await endOf(compaction);
  expect(stopped).toMatchObject({ outcome: 'stopped', commandOnly: true });
  expect(stopped.explanation).not.toContain('resume');
  await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({ code: 'nothing_to_resume' });
});

test('a turn that was stopped before it began does not run because a compaction was asked for behind the stop', async () => {
  const { sent, compaction } = await withoutWorker(async () => {
    const begun = await client.start('Call act with {"n": 1}', { agent: 'unlimited' });
    const { stdout } = await cli('stop', begun.conversationId);
    expect(stdout).toContain('the one that was about to begin is stopped');
    return { sent: begun, compaction: await client.conversation.compact({ conversationId: begun.conversationId }) };
  });
  const { conversationId } = sent;
  expect((await endOf(sent)).outcome).toBe('stopped');
  const compacted = await endOf(compaction);
  expect(compacted.outcome).toBe('completed');
  expect(compacted.turnId).not.toBe((await endOf(sent)).turnId);
  expect(acted).toEqual([]);
  const { invariants } = await verify(harness.database, { conversationId });
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
});

test('a conversation that rested for longer than its limit asks no model; a resume lets a rest of any length pass, and the limit of later ones stays; the command that is advised is accepted', async () => {
  const { conversationId } = await runTask('Say first', 'rests');
  const rest = (length: string) => harness.database`
    update model_attempts m set ended_at = m.ended_at - ${length}::interval, epoch = c.epoch
    from conversations c where c.id = m.conversation_id and c.id = ${conversationId}`;
  for (const flags of [[], ['--idle-time', '+86400']]) {
    await rest('30 days');
    const asked = (await harness.asked()).total;
    const sent = await client.conversation.send({ conversationId, content: 'Say second', mode: 'queue' });
    const rested = await endOf(sent);
    expect(rested.reason).toBe('conversation_idle_time_limit');
    expect((await harness.asked()).total).toBe(asked);
    expect(rested.explanation).toMatch(/Go on with 'holdfast resume', which lets this rest pass/u);
    const printed = await cli('resume', conversationId, ...flags, '--json');
    const { messageId } = JSON.parse(printed.stdout) as { messageId: string };
    expect((await endOf({ conversationId, messageId })).outcome).toBe('completed');
  }
  await rest('1 hour');
  // Within the raise, which holds for good.
  const last = await client.conversation.send({ conversationId, content: 'Say third', mode: 'queue' });
  expect((await endOf(last)).outcome).toBe('completed');
});

test('a raise that is too small, or no whole number, is refused with the smallest that helps, and that one does', async () => {
  const turn = await runTask(MANY, 'few-tokens');
  const { conversationId } = turn;
  for (const counted of ['steps', 'toolCalls', 'inputTokens', 'outputTokens'])
    await expect(client.conversation.resume({ conversationId, raise: { [counted]: 0.5 } })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  const half = await cli('resume', conversationId, '--steps', '0.5');
  expect([half.code, half.stderr]).toEqual([2, expect.stringContaining('counted in whole numbers')]);
  expect(turn.reason).toBe('conversation_input_token_limit');
  const refused = await cli('resume', conversationId, '--input-tokens', '+1');
  expect(refused.code).not.toBe(0);
  const least = turn.usage.input - 100 + 1;
  expect(refused.stderr).toContain(`holdfast resume ${conversationId} --input-tokens +${least}"`);
  const printed = await cli('resume', conversationId, '--input-tokens', `+${least}`, '--json');
  const { messageId } = JSON.parse(printed.stdout) as { messageId: string };
  expect((await endOf({ conversationId, messageId })).steps).toBe(1);
});
