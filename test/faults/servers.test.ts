import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runInProcess } from '../cli/run-in-process.ts';
import { findTemporalCli } from '../../src/local/setup/temporal-cli.mjs';
import { freePort } from '../../src/local/ports.ts';
import { startPostgres } from '../../src/local/postgres/postgres.ts';
import type { LocalPostgres } from '../../src/local/postgres/postgres.ts';
import { startTemporalServer } from '../../src/local/temporal-server.ts';
import type { LocalTemporal } from '../../src/local/temporal-server.ts';
import { diskFull } from '../support/disk-full.ts';
import { temporaryDirectory } from '../support/servers.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { familyOf, signalAll } from './processes.ts';
import { startRunningCalls } from './running-calls.ts';
import { runShortOfConnections } from './short-of-connections.ts';
import { nothingIsBroken, startSteadyTurn } from './steady-turn.ts';
import type { SteadyTurn } from './steady-turn.ts';

/** Longer than a heartbeat timeout. */
const FROZEN_MILLISECONDS = 22_000;
const OUTAGE_MILLISECONDS = 2_000;
const CONNECTIONS = 60;

let directory: string;
let database: LocalPostgres;
let temporal: LocalTemporal;
let harness: TurnHarness;
let worker: WorkerProcess;
/** What workers of this process log. */
const logged: string[] = [];
let ports: { readonly postgres: number; readonly temporal: number };

const dataDirectory = (): string => join(directory, 'data');
const postgresLog = (): string => join(directory, 'postgres.log');
const temporalFile = (): string => join(directory, 'temporal.db');

async function openPostgres(): Promise<void> {
  database = await startPostgres({
    dataDirectory: dataDirectory(),
    port: ports.postgres,
    // It is killed: what it has acknowledged must be there afterwards.
    durable: true,
    maximumConnections: CONNECTIONS,
    logFile: postgresLog(),
  });
}

async function openTemporal(): Promise<void> {
  temporal = await startTemporalServer({
    executable: findTemporalCli()?.path ?? '',
    port: ports.temporal,
    uiPort: null,
    databaseFile: temporalFile(),
    logFile: join(directory, 'temporal.log'),
    dynamicConfiguration: { 'history.workflowIdReuseMinimalInterval': '"0s"' },
  });
}

async function killTemporal(): Promise<void> {
  process.kill(temporal.process.processId, 'SIGKILL');
  await temporal.process.exited;
}

beforeAll(async () => {
  directory = await temporaryDirectory('test-faults');
  ports = { postgres: await freePort(), temporal: await freePort() };
  await Promise.all([openPostgres(), openTemporal()]);
  harness = await startTurnHarness({
    upkeep: true,
    log: (line) => logged.push(line),
    databaseServer: database.url('postgres'),
    temporalAddress: temporal.address,
  });
  // For the worker's process only: the one in this process has its agent from the harness.
  await writeFile(join(harness.workspace, 'holdfast.yaml'), 'agents: { default: { allowCommands: true } }\n');
  worker = await startWorkerProcess(harness);
  // It serves another queue, and would take over what it believes to be a dead worker's: no fault here is a death.
  await harness.startWorker({ taskQueue: 'agent-turn-of-the-survivor' });
});

afterAll(async () => {
  worker.kill('SIGTERM');
  const { code, output } = await worker.exited;
  expect(code).toBe(0);
  expect(`${output}${logged.join('')}`).not.toContain('a worker died');
  await harness.stop();
  await Promise.all([database.stop(), temporal.stop()]);
  await rm(directory, { recursive: true, force: true });
});

/** With owners and modes, which Postgres insists on. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

/** Another turn of the conversation, to its end. */
async function nextTurnCompletes(conversationId: string): Promise<void> {
  await harness.clearFaults();
  const sent = await harness.client.conversation.send({ conversationId, content: 'Say repaired', mode: 'queue' });
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'completed' });
  await nothingIsBroken(harness);
}

async function turnOf({ conversationId }: SteadyTurn): Promise<string> {
  return (await harness.client.conversation.get({ conversationId })).turn?.turnId ?? '';
}

async function outcomeOf(turnId: string): Promise<unknown> {
  const [row] = await harness.database`select outcome from turns where id = ${turnId}`;
  return row?.['outcome'];
}

test('a turn lives through Postgres being killed, out of connections, read-only and full', async () => {
  const turn = await startSteadyTurn(harness);
  process.kill(database.process.processId, 'SIGKILL');
  await database.process.exited;
  await delay(OUTAGE_MILLISECONDS);
  await openPostgres();
  await turn.goesOn();

  await runShortOfConnections({ url: database.url('postgres'), connections: CONNECTIONS, logFile: postgresLog() });
  await turn.goesOn();

  const settings = postgres(database.url('postgres'), { max: 1, fetch_types: false, onnotice: () => undefined });
  await settings`alter system set default_transaction_read_only = on`;
  await settings`select pg_reload_conf()`;
  await delay(OUTAGE_MILLISECONDS);
  await settings`alter system reset default_transaction_read_only`;
  await settings`select pg_reload_conf()`;
  await settings.end();
  await turn.goesOn();

  const full = await diskFull(harness.database);
  try {
    await waitUntil('writes are refused', async () => (await full.refusals()) >= 2);
  } finally {
    await full.end();
  }
  await turn.completes();
});

test('while Postgres is restarted, 20 model calls and 20 `once` tools go on: none is made again, and each outcome is known', async () => {
  const calls = await startRunningCalls(harness);
  await database.stop();
  await openPostgres();
  await calls.end();
});

test('all processes frozen for longer than a heartbeat timeout: the turn goes on, and nothing is doubled', async () => {
  const turn = await startSteadyTurn(harness);
  const roots = [database.process.processId, temporal.process.processId, worker.processId];
  const frozen = (await Promise.all(roots.map(familyOf))).flat();
  signalAll(frozen, 'SIGSTOP');
  await delay(FROZEN_MILLISECONDS);
  signalAll(frozen, 'SIGCONT');
  await turn.completes();
});

test('a turn lives through Temporal being killed and started again, and so does a message that is sent meanwhile', async () => {
  const turn = await startSteadyTurn(harness);
  await killTemporal();
  const accepted = await harness.client.start('Say accepted');
  await delay(OUTAGE_MILLISECONDS);
  await openTemporal();
  expect(await harness.client.conversation.outcome({ ...accepted, timeoutMilliseconds: 240_000 })).toMatchObject({
    outcome: 'completed',
    steps: 1,
  });
  await turn.completes();
});

test("when Temporal's data is lost during turns, the next message ends its turn as interrupted and goes on; without one, upkeep does within a minute", async () => {
  const [spoken, silent] = [await startSteadyTurn(harness), await startSteadyTurn(harness)];
  const [first, second] = [await turnOf(spoken), await turnOf(silent)];
  await killTemporal();
  for (const suffix of ['', '-wal', '-shm']) await rm(`${temporalFile()}${suffix}`, { force: true });
  await openTemporal();
  const lost = Date.now();
  await nextTurnCompletes(spoken.conversationId);
  expect(await outcomeOf(first)).toBe('interrupted');
  const ended = async (): Promise<boolean> => (await outcomeOf(second)) === 'interrupted';
  await waitUntil('upkeep has ended the other turn', ended, 60_000 - (Date.now() - lost));
  await nextTurnCompletes(silent.conversationId);
  // Workers that run go on; one that starts is refused until a person says that this is no wrong server.
  await expect(harness.startWorker()).rejects.toMatchObject({ code: 'namespace_differs' });
  const adopted = await runInProcess(['db', 'adopt', '--namespace', 'default'], { environment: harness.environment });
  expect(adopted).toMatchObject({ code: 0 });
});

test('when Postgres is restored from an older backup during a turn, the conversation ends up as in the backup and goes on', async () => {
  const turn = await startSteadyTurn(harness);
  const { conversationId } = turn;
  const turnId = await turnOf(turn);
  const stored = () => harness.database<{ id: string; sequence: number }[]>`
      select id, sequence from entries where conversation_id = ${conversationId} order by sequence`;
  const backup = join(directory, 'backup');
  // The worker writes until Postgres stops and once it is back: the backup has the first list, and at most the second.
  const held = await stored();
  await database.stop();
  copy(dataDirectory(), backup);
  await openPostgres();
  const mostHeld = (await stored()).length;
  await turn.goesOn();
  const lost = (await stored()).slice(mostHeld);
  expect(lost.length).toBeGreaterThan(0);
  await database.stop();
  await rm(dataDirectory(), { recursive: true });
  copy(backup, dataDirectory());
  await openPostgres();
  await turn.end();
  await waitUntil('the turn has ended', async () => (await outcomeOf(turnId)) !== null);
  // It goes on from the backup's state, or an activity is refused and no retry can mend it.
  expect(['completed', 'interrupted']).toContain(await outcomeOf(turnId));
  await nextTurnCompletes(conversationId);
  const entries = await stored();
  expect(entries.slice(0, held.length)).toEqual([...held]);
  expect(entries.filter(({ id }) => lost.some((one) => one.id === id))).toEqual([]);
});
