import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestTemporal } from '../support/servers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ANSWERED, CALLS_A_TOOL, beginsWith } from '../workflows/support/worker-of-activities.ts';
import { keepScripted } from './keep-scripted.ts';

/** What a turn leaves in the middle of, for its next run. */
let server: Awaited<ReturnType<typeof startTestTemporal>>;

beforeAll(async () => {
  server = await startTestTemporal({ suggestContinueAsNewEvents: 40 });
});

afterAll(() => server.stop());

const VIEW = { headEntryId: 'head', tokens: 100 };
const WAIT = { kind: 'wait', delayMilliseconds: 1 } as const;
/** More than fit into two runs. A timer of the server takes a second at least. */
const WAITS = 6;

test('a wait for an approval', async () => {
  let [looks, requests, continued, decided] = [0, 0, 0, false];
  const waiting = (): number => (decided ? 0 : 1);
  await keepScripted(
    server.address,
    'approval-across-runs',
    () => ({
      callModel: ({ callNumber }) => Promise.resolve(callNumber === 1 ? { ...CALLS_A_TOOL, asks: true } : ANSWERED),
      continueTurn: async () => {
        continued += 1;
      },
      requestDecisions: async () => {
        requests += 1;
        return { waiting: waiting(), questions: 0, expiresInMilliseconds: 86_400_000 };
      },
      lookAtInbox: async () => {
        looks += 1;
        return {
          waiting: 0,
          steering: 0,
          stopRequested: false,
          compactRequested: false,
          decisionsWaiting: waiting(),
        };
      },
    }),
    async ({ ring }) => {
      const isAsked = () => waitUntil('the run asks for the decision', () => requests > continued);
      while (continued < 2) {
        await isAsked();
        const [before, run] = [looks, continued];
        await ring();
        // A ring that comes as the next run begins is answered by what the run reads anyway.
        await waitUntil('the ring is seen', () => looks > before || continued > run);
      }
      await isAsked();
      decided = true;
      await ring();
    },
  );
  expect(continued).toBeGreaterThan(1);
});

test('the check after the last answer, while the time of the conversation is limited', async () => {
  let [asked, continued, isWritten, isCommitted] = [0, 0, false, false];
  await keepScripted(server.address, 'last-check-across-runs', () => ({
    ...beginsWith({ checkAfterLastStep: true }, { conversationRest: { wallTime: 3_600 } }),
    continueTurn: async () => {
      continued += 1;
    },
    compactContext: async ({ turnIsOver }) => {
      if (turnIsOver !== true || isCommitted) return { kind: 'fits', view: VIEW };
      const waves = isWritten ? [] : [[{ number: 1, label: 'part 1' }]];
      return { kind: 'planned', planned: { compactionId: 'compaction', tokensBefore: 1_000, waves } };
    },
    summarize: async () => {
      asked += 1;
      isWritten = asked > WAITS;
      return isWritten ? { kind: 'summarized', tokens: 10 } : WAIT;
    },
    commitCompaction: async () => {
      isCommitted = true;
      return { kind: 'committed', view: VIEW, tokensBefore: 1_000 };
    },
  }));
  expect(continued).toBeGreaterThan(1);
  expect(isCommitted).toBe(true);
});

test('a change of branch', async () => {
  let [asked, continued] = [0, 0];
  await keepScripted(server.address, 'change-of-branch-across-runs', () => ({
    ...beginsWith({}, { commandOnly: true, branchRequested: true }),
    continueTurn: async () => {
      continued += 1;
    },
    changeBranch: async () => {
      asked += 1;
      return asked > WAITS ? { kind: 'changed' } : WAIT;
    },
  }));
  expect(continued).toBeGreaterThan(1);
});
