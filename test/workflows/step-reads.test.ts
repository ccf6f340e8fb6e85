import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLONED_TABLES, cloneConversations } from '../../dev/bench/clone-conversations.ts';
import { fillConversation } from '../../dev/bench/fill-conversation.ts';
import { judgedReads, readsDuring } from '../../dev/bench/table-reads.ts';
import type { TableReads } from '../../dev/bench/table-reads.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

const STEPS = 4;
const FILLED_STEPS = 4;
const COPIES = 500;
/** 256 entries make a row of it: more than copies may have here. */
const LEFT_SMALL = 'packed_outlines';
/** What a search looks into, and where indexing notes how far it came. */
const SEARCH_TABLES = ['passages', 'search_progress', 'term_frequencies'];

let harness: TurnHarness;
let empty: readonly TableReads[];
let full: readonly TableReads[];

beforeAll(async () => {
  // Whatever a step may have to look at: the queue of a provider, limits of the turn and of the conversation.
  harness = await startTurnHarness({
    providerLimits: { concurrentCalls: 4, tokensPerMinute: 10_000_000 },
    agent: {
      limits: { cost: 1_000, conversation: { steps: 1_000, toolCalls: 1_000, wallTime: 100_000, idleTime: 100_000 } },
    },
  });
  await harness.startWorker();
  const { database } = harness;
  const { conversationId: template } = await runTurn(2);
  empty = await readsDuring(database, () => runTurn(STEPS));
  const { conversationId } = await fillConversation(database, { template, steps: FILLED_STEPS });
  await cloneConversations(database, { conversationId, copies: COPIES });
  // Plans that connections made for the small tables are forgotten by the analysis above.
  full = await readsDuring(database, () => runTurn(STEPS));
});
afterAll(() => harness.stop());

function runTurn(steps: number) {
  return harness.runTask(`Call list_files with {"path": "."} ${steps} times, one by one`);
}

test('a turn reads no whole table, and not a row of each conversation that there is', async () => {
  for (const table of CLONED_TABLES.filter((each) => each !== LEFT_SMALL)) {
    const [row] = await harness.database<
      { rows: number }[]
    >`select count(*)::int as rows from ${harness.database(table)}`;
    expect([table, row?.rows]).toEqual([table, expect.toSatisfy((rows) => rows > COPIES)]);
  }
  const [few, many] = [judgedReads(empty), judgedReads(full)];
  expect(many.filter(({ scanned }) => scanned > 0)).toEqual([]);
  const fetched = (reads: readonly TableReads[]): number => reads.reduce((sum, each) => sum + each.fetched, 0);
  // In small tables some of it is read by scans.
  const before = fetched(few) + few.reduce((sum, each) => sum + each.scanned, 0);
  // The same turn reads a few hundred rows more or fewer by its plans and by how long it waits.
  expect(fetched(many) - before).toBeLessThan(COPIES);
});

test('a turn indexes nothing for search: it neither looks into a table of the index nor writes there', () => {
  const ofSearch = full.filter(({ table }) => SEARCH_TABLES.includes(table));
  expect(ofSearch).toEqual(SEARCH_TABLES.map((table) => ({ table, scanned: 0, fetched: 0, scans: 0, written: 0 })));
});
