import { afterAll, beforeAll, expect, test } from 'vitest';
import { cloneConversations } from '../../bench/clone-conversations.ts';
import { judgedReadsDuring } from '../../bench/table-reads.ts';
import type { TableReads } from '../../bench/table-reads.ts';
import { pauseUpkeepSchedule } from '../support/upkeep-schedule.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

const STEPS = 4;
const COPIES = 1_500;

let harness: TurnHarness;

beforeAll(async () => {
  // Whatever a step may have to look at: the queue of a provider, limits of the turn and of the conversation.
  harness = await startTurnHarness({
    providerLimits: { concurrentCalls: 4, tokensPerMinute: 10_000_000 },
    agent: {
      limits: { cost: 1_000, conversation: { steps: 1_000, toolCalls: 1_000, wallTime: 100_000, idleTime: 100_000 } },
    },
  });
  await harness.startWorker();
  // Upkeep looks at all conversations.
  await pauseUpkeepSchedule(harness.temporal, harness.database);
});
afterAll(() => harness.stop());

async function readsOfTurn(): Promise<readonly TableReads[]> {
  return judgedReadsDuring(harness.database, () =>
    harness.runTask(`Call list_files with {"path": "."} ${STEPS} times, one by one`),
  );
}

test('a turn reads no whole table, and not a row of each conversation that there is', async () => {
  const { conversationId } = await harness.runTask(`Call list_files with {"path": "."} ${STEPS} times, one by one`);
  const empty = await readsOfTurn();
  await cloneConversations(harness.database, { conversationId, copies: COPIES });
  // Plans that connections made for the small tables are forgotten by the analysis above.
  const full = await readsOfTurn();
  expect(full.filter(({ scanned }) => scanned > 0)).toEqual([]);
  const fetched = (reads: readonly TableReads[]): number => reads.reduce((sum, each) => sum + each.fetched, 0);
  // In small tables some of it is read by scans.
  const before = fetched(empty) + empty.reduce((sum, each) => sum + each.scanned, 0);
  expect(fetched(full)).toBeLessThan(before * 1.2);
});
