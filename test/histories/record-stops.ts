import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestTemporal } from '../support/servers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { CALLS_A_TOOL } from '../workflows/support/worker-of-activities.ts';
import { keepScripted } from './keep-scripted.ts';

let server: Awaited<ReturnType<typeof startTestTemporal>>;

beforeAll(async () => {
  server = await startTestTemporal();
});

afterAll(() => server.stop());

/** Temporal tells an activity of a stop with the answer to a heartbeat. */
async function untilStopped(): Promise<void> {
  const context = Context.current();
  const beating = setInterval(() => context.heartbeat(), 100);
  try {
    await context.cancelled;
  } finally {
    clearInterval(beating);
  }
}

test('a stop of two tool calls, one of which still finishes when the other has ended', async () => {
  const [tool] = CALLS_A_TOOL.tools;
  let [running, finished] = [0, false];
  await keepScripted(
    server.address,
    'stopped-calls',
    () => ({
      callModel: () => Promise.resolve({ ...CALLS_A_TOOL, tools: [tool, tool], calls: [0, 1] }),
      lookAtInbox: ({ turn }) =>
        Promise.resolve({ waiting: 0, steering: 0, stopRequested: turn !== null, compactRequested: false }),
      runTool: async ({ callIndex }) => {
        running += 1;
        await untilStopped().catch((error: unknown) => {
          if (callIndex === 0) throw error;
        });
        // The time that it takes to finish, in which the other call is reported.
        await delay(1_000);
        finished = true;
        return { state: 'succeeded' };
      },
      endTurn: async () => {
        expect(finished).toBe(true);
      },
    }),
    async ({ ring }) => {
      await waitUntil('both calls run', () => running === 2);
      await ring();
    },
  );
  expect(finished).toBe(true);
});
