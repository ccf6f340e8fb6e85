import { beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../src/context/log/content.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { runInProcess } from './run-in-process.ts';

let worker: RunningWorker;
let acted: string[];

const act = defineTool({
  name: 'act',
  description: 'Acts.',
  input: z.object({ what: z.string() }),
  effect: 'once',
  approval: ({ what }) => what.includes('danger'),
  run: ({ what }) => {
    acted.push(what);
    return Promise.resolve({ content: `did ${what}` });
  },
});

const rules = ['ls*', '*rm*'].map((what) => ({ tool: 'act', when: { what } }));
const harness = useTurnHarness({ tools: [act], agent: { tools: ['act'], approvals: { rules } } });

beforeAll(async () => {
  worker = await harness.startWorker();
});

beforeEach(() => {
  acted = [];
});

const cli = async (...args: readonly string[]): Promise<string[]> => {
  const { stdout } = await runInProcess(args, { environment: harness.environment, directory: harness.workspace });
  return stdout.trimEnd().split('\n');
};

/** Starts a task and waits until its call waits for a person. */
async function waitingFor(what: string) {
  const sent = await harness.client.start(`Call act with ${JSON.stringify({ what })}`);
  const { conversationId } = sent;
  await waitUntil('the call waits', async () => {
    return (await harness.client.conversation.get({ conversationId })).waitingCalls.length === 1;
  });
  return { ...sent, short: conversationId.slice(-8) };
}

const endOf = ({ conversationId, messageId }: { conversationId: string; messageId: string }) =>
  harness.client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 240_000 });

test('what stands for a loose rule does not let a call through that a stricter rule and its tool stop; show and approve name the rules', async () => {
  const loose = await waitingFor('ls');
  expect(await cli('show', loose.short)).toContainEqual(
    expect.stringMatching(
      /^call 1\.1\.0 waits for approval: act \{"what":"ls"\} \(rule: act\(what: ls\*\); expires in /,
    ),
  );
  const approved = await cli('approve', loose.short, '--for', 'agent');
  expect(approved[0]).toBe('Approved call 1.1.0 and all calls of this agent under act(what: ls*): act ls');
  await endOf(loose);
  const strict = await waitingFor('ls; rm danger');
  expect(acted).toEqual(['ls']);
  const rules = ['act(what: ls*)', 'act(what: *rm*)', 'tool act'];
  expect((await harness.client.conversation.get({ conversationId: strict.conversationId })).waitingCalls).toMatchObject(
    [{ rules }],
  );
  expect(await cli('show', strict.short)).toContainEqual(
    expect.stringContaining(`(rules: ${rules.join(' and ')}; expires in `),
  );
  expect((await cli('deny', strict.short, '--for', 'turn'))[0]).toBe(
    `Denied call 1.1.0 and all calls of this turn under ${rules.join(' or ')}: act ls; rm danger`,
  );
  await endOf(strict);
  expect(acted).toEqual(['ls']);
});

// Its clock is the database's from then on.
test('an approval that comes too late by the clock of Postgres lets the turn go on with a denial, long before its timer', async () => {
  const waiting = await waitingFor('danger');
  worker.shutdown();
  await worker.ended;
  const name = new URL(harness.databaseUrl).pathname.slice(1);
  await harness.database.unsafe(`alter database "${name}" set holdfast.clock_offset = '25h'`);
  await harness.startWorker();
  const { stderr } = await runInProcess(['approve', waiting.short], {
    environment: harness.environment,
    directory: harness.workspace,
  });
  expect(stderr).toContain('the decision came too late');
  expect((await endOf(waiting)).outcome).toBe('completed');
  const { items: entries } = await harness.client.log.entries({ conversationId: waiting.conversationId });
  expect(entries.map(({ content }) => textOf(content))).toContainEqual(
    expect.stringMatching(/^Nobody allowed this call until /),
  );
  expect(acted).toEqual([]);
});
