import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { startSteadyTurn } from './steady-turn.ts';

type Fault = 'refuse' | 'reset' | 'blackHole' | 'stall';

/** Milliseconds that a network is cut. */
const CUT = 2_000;
/** Longer than a heartbeat timeout: Temporal takes the worker for dead, and the worker is not. */
const LONGER_THAN_HEARTBEATS = 22_000;

/** Longer than a provider may be silent here. */
const LONGER_THAN_SILENCE = 10_000;

let harness: TurnHarness;
let worker: WorkerProcess;
/** What the worker of this process logs. */
const logged: string[] = [];
let proxies: Record<'Postgres' | 'Temporal' | 'the model', TcpProxy>;

beforeAll(async () => {
  harness = await startTurnHarness({ upkeep: true, log: (line) => logged.push(line) });
  // For the worker's process only: the agent of the harness has the same name.
  await writeFile(
    join(harness.workspace, 'holdfast.yaml'),
    'providers: { simulator: { idleTimeoutSeconds: 9 } }\nagents: { default: { allowCommands: true } }\n',
  );
  proxies = {
    Postgres: await startTcpProxy(harness.databaseUrl),
    Temporal: await startTcpProxy(harness.temporalAddress),
    'the model': await startTcpProxy(harness.simulatorUrl),
  };
  worker = await startWorkerProcess(harness, {
    DATABASE_URL: proxies.Postgres.url(harness.databaseUrl),
    TEMPORAL_ADDRESS: proxies.Temporal.address,
    HOLDFAST_SIMULATOR_URL: proxies['the model'].url(harness.simulatorUrl),
  });
  // It serves another queue. A worker that is cut off from Postgres looks dead to it, and its attempts are ended.
  await harness.startWorker({ taskQueue: 'agent-turn-of-the-survivor' });
});

afterAll(async () => {
  worker.kill('SIGTERM');
  expect(await worker.exited).toMatchObject({ code: 0 });
  expect(logged.join('')).toContain('a worker died: its work goes on');
  for (const proxy of Object.values(proxies)) await proxy.close();
  await harness.stop();
});

test.each<['Postgres' | 'Temporal' | 'the model', readonly (readonly [Fault, number])[]]>([
  [
    'Postgres',
    [
      ['refuse', CUT],
      ['reset', CUT],
      ['blackHole', CUT],
    ],
  ],
  [
    'Temporal',
    [
      ['refuse', CUT],
      ['reset', CUT],
      ['stall', LONGER_THAN_HEARTBEATS],
      // Its connections stay silent for good: the worker goes on once the keep-alive of the SDK has given them up, after 45 s.
      ['blackHole', CUT],
    ],
  ],
  [
    'the model',
    [
      ['refuse', CUT],
      ['reset', CUT],
      ['stall', CUT],
      // Longer than the provider may be silent: what it answers never comes.
      ['blackHole', LONGER_THAN_SILENCE],
    ],
  ],
])(
  'a turn lives through a network that cuts the worker off from %s, in every way, and nothing is lost or doubled',
  async (server, faults) => {
    const turn = await startSteadyTurn(harness);
    for (const [fault, milliseconds] of faults) {
      await proxies[server][fault]();
      await delay(milliseconds);
      await proxies[server].mend();
      await turn.goesOn();
    }
    await turn.completes();
  },
);
