import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/content.ts';
import { CRASH_POINTS } from '../../src/activities/crash-points.ts';
import type { CrashPoint } from '../../src/activities/crash-points.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { startTestTemporal } from '../support/servers.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { DEATHS } from './presets/scenario.ts';
import { READ, SCENARIOS } from './write-scenarios.ts';
import type { Scenario } from './write-scenarios.ts';
import { waitUntil } from '../support/wait-until.ts';
import { expectDeath, startWorkerProcess } from '../support/worker-process.ts';

/** Where workers die in the scenario of upkeep, in its order: no turn reaches these. */
const DEATHS_OF_UPKEEP = [
  'ringForWaitingMessages:rung',
  'repairLostTurns:interrupted',
  'repairLostTurns:rung',
  'indexFallenBehind:taken-apart',
  'indexFallenBehind:indexed',
  'deleteExpired:forgotten',
  'deleteExpired:deleted',
] as const satisfies readonly CrashPoint[];

let server: Awaited<ReturnType<typeof startTestTemporal>>;

beforeAll(async () => {
  server = await startTestTemporal({ suggestContinueAsNewEvents: 100 });
});

afterAll(() => server.stop());

const RETENTION = JSON.stringify({ agents: { default: { model: 'simulator/sim-32k' } }, retention: { days: 30 } });

async function openScenario({ agent, queues = false }: Pick<Scenario, 'agent' | 'queues'>): Promise<TurnHarness> {
  const harness = await startTurnHarness({ temporalAddress: server.address });
  await mkdir(join(harness.workspace, '.cowork'));
  for (let file = 1; file <= 25; file += 1) {
    const lines = Array.from({ length: 90 }, (_, index) => `pump ${file * 100 + index} opens at ${index + file} bar\n`);
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  const providers = queues ? { simulator: { limits: { concurrentCalls: 1 } } } : {};
  await writeFile(join(harness.workspace, 'holdfast.yaml'), JSON.stringify({ agents: { default: agent }, providers }));
  return harness;
}

/** What stands in the log of a conversation, ids and times left out. */
async function entriesOf({ client }: TurnHarness, conversationId: string): Promise<unknown> {
  const entries = await client.listEntries({ conversationId, limit: 1_000 });
  return entries.map(({ kind, sequence, content }) => ({ kind, sequence, content }));
}

async function resultsOf({ client }: TurnHarness, conversationId: string): Promise<string[]> {
  const entries = await client.listEntries({ conversationId, limit: 1_000 });
  return entries.filter(({ kind }) => kind === 'tool_result').map(({ content }) => textOf(content));
}

/** Starts a worker that is to die at a point, and waits until it has. */
async function dieAt(harness: TurnHarness, point: string, script?: string): Promise<void> {
  await expectDeath(await startWorkerProcess(harness, { HOLDFAST_CRASH_POINTS: point }, script), point);
}

test.concurrent.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  '%s: whichever write is the last of a worker, another one goes on as if nothing had happened',
  async (_, { agent, queues, task, script, deaths, undisturbed, results, outcome = 'completed' }) => {
    const harness = await openScenario({ agent, ...(queues !== undefined && { queues }) });
    const workers: WorkerProcess[] = [];
    try {
      const path = script === undefined ? undefined : join(harness.workspace, 'worker.mjs');
      if (path !== undefined) await writeFile(path, script ?? '');
      const sent = await harness.client.startTask({ task });
      for (const { at, before } of deaths) {
        await before?.(harness, sent);
        await dieAt(harness, at, path);
      }
      const last = await startWorkerProcess(harness, {}, path);
      workers.push(last);
      const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 300_000 });
      expect(turn.outcome).toBe(outcome);
      if (results !== undefined) expect(await resultsOf(harness, sent.conversationId)).toEqual(results);
      if (undisturbed !== undefined) {
        await undisturbed(harness);
        const { conversationId } = await harness.runTask(task);
        expect(await entriesOf(harness, sent.conversationId)).toEqual(await entriesOf(harness, conversationId));
      }
      await expectAllHolds(harness);
      last.kill('SIGTERM');
      expect(await last.exited).toMatchObject({ code: 0 });
    } finally {
      for (const each of workers) each.kill('SIGKILL');
      await Promise.all(workers.map((each) => each.exited));
      await harness.stop();
    }
  },
  400_000,
);

test.concurrent('upkeep: whichever write is the last of a worker, the next upkeep does the rest', async () => {
  const harness = await openScenario({ agent: { model: 'simulator/sim-32k' } });
  let last: WorkerProcess | undefined;
  const died: CrashPoint[] = [];
  const dieInUpkeep = async (point: CrashPoint): Promise<void> => {
    await dieAt(harness, point);
    died.push(point);
  };
  try {
    const { client, database, temporal } = harness;
    const end = async (conversationId: string): Promise<void> => {
      // The sender rings in the background.
      await waitUntil('the doorbell has rung', async () =>
        temporal.workflow
          .getHandle(turnWorkflowId(conversationId))
          .terminate()
          .then(
            () => true,
            () => false,
          ),
      );
    };
    const unrung = await client.startTask({ task: 'Say nobody rang' });
    await end(unrung.conversationId);
    await database`update messages set created_at = created_at - interval '1 minute'`;
    await dieInUpkeep('ringForWaitingMessages:rung');
    for (const point of ['repairLostTurns:interrupted', 'repairLostTurns:rung'] as const) {
      const sent = await client.startTask({ task: `${READ} 3 times, one by one` });
      await dieAt(harness, 'callModel:registered@2');
      await end(sent.conversationId);
      await database`update turns set begun_at = begun_at - interval '1 minute' where outcome is null`;
      await client.sendMessage({ conversationId: sent.conversationId, content: 'Say repaired', mode: 'queue' });
      await end(sent.conversationId);
      await dieInUpkeep(point);
    }
    await database`
      insert into memories (id, scope, scope_name, kind, text, origin)
      values (gen_random_uuid(), 'agent', 'nobody', 'fact', '"Pump 7 opens at 4 bar."', 'user')`;
    await dieInUpkeep('indexFallenBehind:taken-apart');
    expect(await database`select from memories where terms is null`).toEqual([]);
    await dieInUpkeep('indexFallenBehind:indexed');
    const inProcess = await harness.startWorker();
    await waitUntil(
      'everything is answered',
      async () => {
        await delay(500);
        const [open] = await database<{ count: number }[]>`
        select (select count(*) from messages where consumed_at is null)::int
          + (select count(*) from turns where outcome is null)::int as count`;
        return open?.count === 0;
      },
      60_000,
    );
    await expectAllHolds(harness);
    inProcess.shutdown();
    await inProcess.ended;

    await writeFile(join(harness.workspace, 'holdfast.yaml'), RETENTION);
    const kept = async (): Promise<string[]> =>
      (await database<{ id: string }[]>`select id from conversations order by id`).map(({ id }) => id);
    const expire = async (conversationId: string): Promise<void> => {
      await database`update conversations set active_at = active_at - interval '31 days' where id = ${conversationId}`;
      await database`delete from upkeep_marks where task = 'retention'`;
    };
    await expire(unrung.conversationId);
    await database`
      insert into memories (id, scope, scope_name, kind, text, origin, expires_at)
      values (gen_random_uuid(), 'agent', 'nobody', 'fact', '"Pump 7 is shut."', 'user', now() - interval '2 days')`;
    await dieInUpkeep('deleteExpired:forgotten');
    expect(await database`select from memories where expires_at is not null`).toEqual([]);
    expect(await kept()).toContain(unrung.conversationId);
    await expire(unrung.conversationId);
    await dieInUpkeep('deleteExpired:deleted');
    const [other = '', ...rest] = await kept();
    expect([other, ...rest]).not.toContain(unrung.conversationId);
    expect(rest).toHaveLength(1);
    await expire(other);
    last = await startWorkerProcess(harness);
    await waitUntil('the next one is deleted', async () => (await kept()).length < 2, 60_000);
    expect(await kept()).toEqual(rest);
    expect(died).toEqual(DEATHS_OF_UPKEEP);
    await expectAllHolds(harness);
  } finally {
    last?.kill('SIGKILL');
    await last?.exited;
    await harness.stop();
  }
}, 400_000);

test('no write of any activity is left out', () => {
  const covered = new Set<string>([
    ...SCENARIOS.flatMap(({ deaths }) => deaths.map(({ at }) => at)),
    ...Object.values(DEATHS).flat(),
    ...DEATHS_OF_UPKEEP,
  ]);
  // What happened outside the database, and no row tells of yet, is among them.
  expect(CRASH_POINTS.filter((point) => !covered.has(point))).toEqual([]);
});
