import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestTemporal } from '../support/servers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ANSWERED, CALLS_A_TOOL } from '../workflows/support/worker-of-activities.ts';
import { keepScripted } from './keep-scripted.ts';

let server: Awaited<ReturnType<typeof startTestTemporal>>;

beforeAll(async () => {
  server = await startTestTemporal();
});

afterAll(() => server.stop());

test('a decision that comes while the turn asks for decisions', async () => {
  let asked = 0;
  await keepScripted(server.address, 'decided-while-asking', ({ acknowledgedRing }) => ({
    callModel: () => Promise.resolve(asked === 0 ? { ...CALLS_A_TOOL, asks: true } : ANSWERED),
    lookAtInbox: () =>
      Promise.resolve({ waiting: 0, steering: 0, stopRequested: false, compactRequested: false, decisionsWaiting: asked }),
    requestDecisions: async () => {
      asked += 1;
      if (asked > 1) return { waiting: 0, questions: 0, expiresInMilliseconds: 0 };
      // What was read is returned only once the turn has seen another count; an acknowledged ring says that it has.
      await acknowledgedRing();
      return { waiting: 2, questions: 0, expiresInMilliseconds: 86_400_000 };
    },
  }));
  expect(asked).toBe(2);
});

test('a look at the inbox that is reported after what it saw was taken', async () => {
  const nothing = { waiting: 0, steering: 0, stopRequested: false, compactRequested: false };
  let [looks, calls, taken] = [0, 0, false];
  await keepScripted(server.address, 'late-look', ({ ring }) => ({
    lookAtInbox: async ({ turn }) => {
      if (turn === null) return nothing;
      looks += 1;
      if (looks > 2) return nothing;
      if (looks === 2) await waitUntil('the message is taken', async () => taken);
      return { ...nothing, steering: 1 };
    },
    takeMessages: async () => {
      taken = true;
    },
    callModel: async () => {
      calls += 1;
      const seen = (times: number) => waitUntil('the inbox is looked at', async () => looks >= times);
      if (calls > 1) await seen(3);
      else for (const times of [1, 2]) await ring().then(() => seen(times));
      return ANSWERED;
    },
  }));
  expect(calls).toBe(2);
});
