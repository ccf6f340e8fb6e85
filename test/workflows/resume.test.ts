import { z } from 'zod';
import { afterEach, describe, expect, test } from 'vitest';
import type { TurnSummary } from '../../src/client/types.ts';
import { newId } from '../../src/store/database/ids.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { verify } from '../../src/verify/verify.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import type { CliResult } from '../cli/cli-result.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { HarnessOptions, TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

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

let harness: TurnHarness;
afterEach(() => harness.stop());

async function prepare(limits: NonNullable<NonNullable<HarnessOptions['agent']>['limits']> = {}): Promise<TurnHarness> {
  acted.length = 0;
  harness = await startTurnHarness({ tools: [act], agent: { tools: ['act'], limits } });
  return harness;
}

const cli = (...args: string[]): Promise<CliResult> => runInProcess(args, { environment: harness.environment });

async function endOf(sent: { conversationId: string; messageId: string }): Promise<TurnSummary> {
  const ended = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 60_000 });
  if (ended.state !== 'ended') throw new Error(`the turn is ${ended.state}`);
  return ended;
}

test('a task that ended at a limit goes on after a compaction, a fork and a switch, which are no turns of it', async () => {
  const { client } = await prepare({ steps: 2 });
  await harness.startWorker();
  const turn = await harness.runTask(MANY);
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
  const { client } = await prepare();
  const worker = await harness.startWorker();
  const { conversationId } = await harness.runTask('Say all done');
  worker.shutdown();
  await worker.ended;
  const compaction = await client.conversation.compact({ conversationId });
  await client.conversation.stop({ conversationId });
  await harness.startWorker();
  const stopped = await endOf(compaction);
  expect(stopped).toMatchObject({ outcome: 'stopped', commandOnly: true });
  expect(stopped.explanation).not.toContain('resume');
  await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({ code: 'nothing_to_resume' });
});

test('a turn that was stopped before it began does not run because a compaction was asked for behind the stop', async () => {
  const { client, database } = await prepare();
  const sent = await client.start('Call act with {"n": 1}');
  const { conversationId } = sent;
  expect((await cli('stop', conversationId)).stdout).toContain('the one that was about to begin is stopped');
  const compaction = await client.conversation.compact({ conversationId });
  await harness.startWorker();
  expect((await endOf(sent)).outcome).toBe('stopped');
  const compacted = await endOf(compaction);
  expect(compacted.outcome).toBe('completed');
  expect(compacted.turnId).not.toBe((await endOf(sent)).turnId);
  expect(acted).toEqual([]);
  const { invariants } = await verify(database, { conversationId });
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
});

test('a resume lets a rest of any length pass, and the limit of later ones stays; the command that is advised is accepted', async () => {
  const { client, database } = await prepare({ conversation: { idleTime: 60 } });
  await harness.startWorker();
  const { conversationId } = await harness.runTask('Say first');
  const rest = () => database`
    update model_attempts m set ended_at = m.ended_at - interval '30 days', epoch = c.epoch
    from conversations c where c.id = m.conversation_id`;
  for (const flags of [[], ['--idle-time', '+86400']]) {
    await rest();
    const sent = await client.conversation.send({ conversationId, content: 'Say second', mode: 'queue' });
    const rested = await endOf(sent);
    expect(rested.reason).toBe('conversation_idle_time_limit');
    expect(rested.explanation).toMatch(/Go on with 'holdfast resume', which lets this rest pass/u);
    const printed = await cli('resume', conversationId, ...flags, '--json');
    const { messageId } = JSON.parse(printed.stdout) as { messageId: string };
    expect((await endOf({ conversationId, messageId })).outcome).toBe('completed');
  }
  await database`
    update model_attempts m set ended_at = m.ended_at - interval '1 hour', epoch = c.epoch
    from conversations c where c.id = m.conversation_id`;
  // Within the raise, which holds for good.
  const last = await client.conversation.send({ conversationId, content: 'Say third', mode: 'queue' });
  expect((await endOf(last)).outcome).toBe('completed');
});

test('a raise that is too small is refused with the smallest that helps, and that one does', async () => {
  await prepare({ conversation: { inputTokens: 100 } });
  await harness.startWorker();
  const turn = await harness.runTask(MANY);
  const { conversationId } = turn;
  expect(turn.reason).toBe('conversation_input_token_limit');
  const refused = await cli('resume', conversationId, '--input-tokens', '+1');
  expect(refused.code).not.toBe(0);
  const least = turn.usage.input - 100 + 1;
  expect(refused.stderr).toContain(`holdfast resume ${conversationId} --input-tokens +${least}"`);
  const printed = await cli('resume', conversationId, '--input-tokens', `+${least}`, '--json');
  const { messageId } = JSON.parse(printed.stdout) as { messageId: string };
  expect((await endOf({ conversationId, messageId })).steps).toBe(1);
});

test('raises of a turn leave the limit of the conversation as it is; where both are reached one raise is for both', async () => {
  const { client } = await prepare({ toolCalls: 2, conversation: { toolCalls: 5, steps: 6 } });
  await harness.startWorker();
  const { conversationId, reason } = await harness.runTask(MANY);
  const reasons = [reason];
  const goOn = async (raise: { toolCalls?: number; steps?: number }) =>
    reasons.push((await endOf(await client.conversation.resume({ conversationId, raise }))).reason);
  await goOn({ toolCalls: 2 });
  await goOn({ toolCalls: 2 });
  expect(reasons).toEqual(['tool_call_limit', 'tool_call_limit', 'conversation_tool_call_limit']);
  expect(acted).toHaveLength(5);
  // The turn had one left; the conversation none.
  await goOn({ toolCalls: 1 });
  expect(reasons.at(-1)).toBe('conversation_step_limit');
  expect(acted).toHaveLength(6);
  // Its tool calls are used up as well.
  await expect(client.conversation.resume({ conversationId, raise: { steps: 3 } })).rejects.toMatchObject({
    code: 'limit_not_raised',
    message: expect.stringContaining(`holdfast resume ${conversationId} --steps +3 --tool-calls +1"`) as string,
  });
  await goOn({ steps: 3, toolCalls: 2 });
  expect(acted).toHaveLength(8);
});

test('what is counted in whole numbers is raised by whole numbers', async () => {
  const { client } = await prepare({ steps: 1 });
  await harness.startWorker();
  const { conversationId } = await harness.runTask(MANY);
  for (const counted of ['steps', 'toolCalls', 'inputTokens', 'outputTokens'])
    await expect(
      client.conversation.resume({ conversationId, raise: { steps: 1, [counted]: 0.5 } }),
    ).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  const refused = await cli('resume', conversationId, '--steps', '0.5');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('"0.5" is no whole number')]);
  await endOf(await client.conversation.resume({ conversationId, raise: { steps: 1, cost: 0.5, wallTime: 0.5 } }));
});

test('of two clients that resume at once, the one that is later stored is refused, although a turn has taken the other meanwhile', async () => {
  const { client, database } = await prepare({ steps: 2 });
  const worker = await harness.startWorker();
  const { conversationId } = await harness.runTask('Call act with {"n": "$index"} 4 times, one by one');
  worker.shutdown();
  await worker.ended;
  const first = { conversationId, raise: { steps: 10 }, messageId: newId() };
  await client.conversation.resume(first);
  // It is judged, and takes until the turn has completed to be stored. No lock, for which a client waits 15 s at most.
  await database.unsafe(`
    create function wait_for_turn() returns trigger language plpgsql as $$
      begin
        while not exists (select from turns where outcome = 'completed') loop perform pg_sleep(0.05); end loop;
        return new;
      end $$;
    create trigger wait_for_turn before insert on messages for each row execute function wait_for_turn()`);
  const second = Promise.allSettled([client.conversation.resume({ conversationId, raise: { steps: 10 } })]);
  await waitUntil('it is judged', async () => {
    const waiting = await database`
      select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
    return waiting.length === 1;
  });
  await harness.startWorker();
  expect(await endOf(first)).toMatchObject({ outcome: 'completed', steps: 3 });
  expect(await second).toMatchObject([
    {
      status: 'rejected',
      reason: { code: 'nothing_to_resume', message: `conversation ${conversationId} completed its last turn` },
    },
  ]);
  // Sent again it is the same, also now that nothing is left to resume.
  expect(await client.conversation.resume(first)).toMatchObject({ duplicate: true });
  expect(acted).toHaveLength(4);
  expect(await database`select from turns where conversation_id = ${conversationId}`).toHaveLength(2);
});

describe('on branches', () => {
  const forkAt = async (conversationId: string, kind: 'user' | 'assistant' | null) => {
    const { client } = harness;
    const at =
      kind === null
        ? undefined
        : (await client.log.entries({ conversationId })).items.find((entry) => entry.kind === kind);
    await endOf(await client.branches.fork({ conversationId, entryId: at?.entryId ?? null, summarize: false }));
  };
  const switchTo = async (conversationId: string, branch: number) =>
    endOf(await harness.client.branches.switch({ conversationId, branch, summarize: false }));

  test('a task that is done is not asked for again because one failed on a branch that was left; that one is named', async () => {
    const { client } = await prepare({ steps: 2 });
    await harness.startWorker();
    const { conversationId } = await harness.runTask('Say all done');
    await forkAt(conversationId, 'assistant');
    expect((await harness.runTask(MANY, { conversationId })).reason).toBe('step_limit');
    await switchTo(conversationId, 0);
    await expect(client.conversation.resume({ conversationId, raise: { steps: 2 } })).rejects.toMatchObject({
      code: 'nothing_to_resume',
      message: `conversation ${conversationId} completed its last turn; the turn of branch 1 is not done: "holdfast switch ${conversationId} 1" goes back to it`,
    });
    await switchTo(conversationId, 1);
    expect((await endOf(await client.conversation.resume({ conversationId, raise: { steps: 1 } }))).steps).toBe(1);
  });

  test('a task goes on with what it left itself, whatever a turn on another branch used or came to', async () => {
    const { client } = await prepare({ steps: 3 });
    await harness.startWorker();
    const { conversationId } = await harness.runTask(MANY);
    await forkAt(conversationId, null);
    await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({
      code: 'nothing_to_resume',
      message: `conversation ${conversationId} has had no turn on its branch; the turn of branch 0 is not done: "holdfast switch ${conversationId} 0" goes back to it`,
    });
    expect((await harness.runTask('Say all done', { conversationId })).outcome).toBe('completed');
    await switchTo(conversationId, 0);
    await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({ code: 'limit_not_raised' });
    const resumed = await endOf(await client.conversation.resume({ conversationId, raise: { steps: 2 } }));
    expect(resumed).toMatchObject({ reason: 'step_limit', steps: 2 });
    expect(acted).toHaveLength(5);
  });

  test('a branch that was forked before the answer goes on with what was asked, one behind the answer does not', async () => {
    const { client } = await prepare();
    await harness.startWorker();
    const { conversationId } = await harness.runTask('Say all done');
    await forkAt(conversationId, 'assistant');
    await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({
      code: 'nothing_to_resume',
      message: `conversation ${conversationId} completed its last turn`,
    });
    await forkAt(conversationId, 'user');
    expect(await endOf(await client.conversation.resume({ conversationId }))).toMatchObject({
      outcome: 'completed',
      steps: 1,
    });
    await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({ code: 'nothing_to_resume' });
  });

  test('while a change of branch waits, nobody knows what a resume would go on with', async () => {
    const { client } = await prepare({ steps: 2 });
    const worker = await harness.startWorker();
    const { conversationId } = await harness.runTask('Say all done');
    await forkAt(conversationId, null);
    expect((await harness.runTask(MANY, { conversationId })).reason).toBe('step_limit');
    worker.shutdown();
    await worker.ended;
    await client.branches.switch({ conversationId, branch: 0, summarize: false });
    await expect(client.conversation.resume({ conversationId, raise: { steps: 2 } })).rejects.toMatchObject({
      code: 'conversation_busy',
    });
  });
});
