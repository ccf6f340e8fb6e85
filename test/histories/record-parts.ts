import { afterAll, beforeAll, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { startTestTemporal } from '../support/servers.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import { keepRuns } from './keep-runs.ts';

/** Compactions in several parts. */
let server: Awaited<ReturnType<typeof startTestTemporal>>;

beforeAll(async () => {
  server = await startTestTemporal({ suggestContinueAsNewEvents: 120 });
});

afterAll(() => server.stop());

/** A conversation of many messages, whose summarizer reads less at once than its model. */
async function compactInParts(
  name: string,
  messages: number,
  {
    fault,
    idleTime,
    text = (number) => `valve ${number} `.repeat(800),
  }: {
    readonly fault?: Readonly<Record<string, unknown>>;
    readonly idleTime?: number;
    /** Of each message, after its first line. */
    readonly text?: (number: number) => string;
  } = {},
): Promise<void> {
  const partwise = await startTurnHarness({
    temporalAddress: server.address,
    agent: {
      model: 'simulator/sim-64k',
      policy: { summary: { model: 'simulator/sim-8k' } },
      ...(idleTime !== undefined && { limits: { idleTime } }),
    },
  });
  try {
    const { conversationId } = await partwise.client.startTask({ task: 'Say ready' });
    for (let number = 0; number < messages; number += 1) {
      const content = `Say ${number}. ${text(number)}`;
      await partwise.client.sendMessage({ conversationId, content, mode: 'steer' });
    }
    const asked = await partwise.client.requestCompaction({ conversationId });
    if (fault !== undefined) await partwise.fault(fault);
    await partwise.startWorker();
    await partwise.client.waitForOutcome({ ...asked, timeoutMilliseconds: 120_000 });
    await keepRuns(name, turnWorkflowId(conversationId), partwise.temporal);
  } finally {
    await partwise.stop();
  }
}

test('summaries side by side', async () => {
  await compactInParts('parallel-summaries', 10);
});

test('summaries side by side that wait for a rate limit', async () => {
  const fault = { kind: 'rate_limit', retryAfterSeconds: 11, times: 3, match: { purpose: 'summary' } };
  await compactInParts('waits-side-by-side', 10, { fault });
});

test('summaries that wait in a turn with a limit of idleness', async () => {
  const fault = { kind: 'rate_limit', retryAfterSeconds: 11, times: 3, match: { purpose: 'summary' } };
  await compactInParts('waits-are-idle', 10, { fault, idleTime: 300 });
});

test('more summaries than run at once', async () => {
  await compactInParts('many-summaries', 22);
});

/** Of which a summary can be written. */
const facts = (number: number): string =>
  Array.from({ length: 160 }, (_, line) => `Pump ${number}-${line} opens at ${line}.5 bar.`).join('\n');

test('a compaction that goes on in a new run after a wait', async () => {
  const fault = { kind: 'rate_limit', retryAfterSeconds: 11, times: 20, match: { purpose: 'summary' } };
  await compactInParts('new-runs-after-waits', 22, { fault, text: facts });
});
