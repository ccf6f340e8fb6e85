import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { verifyTemporal } from '../../src/verify/temporal-invariants.ts';
import { verify } from '../../src/verify/verify.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

const FILES = 40;

let harness: TurnHarness;
let conversationId: string;

beforeAll(async () => {
  harness = await startTurnHarness({ agent: { model: 'simulator/sim-32k' } });
  for (let file = 1; file <= FILES; file += 1) {
    const lines = Array.from({ length: 100 }, (_, index) => `pump ${file * 100 + index} opens at ${index} bar\n`);
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  await harness.startWorker();
  const turn = await harness.runTask(`Call read_file with {"path": "log-$index.txt"} ${FILES} times, one by one`);
  ({ conversationId } = turn);
  expect(turn.compactions).toBeGreaterThan(1);
  for (const content of ['Say The second turn is done.', 'Say The third turn is done.']) {
    const asked = await harness.client.sendMessage({ conversationId, content, mode: 'queue' });
    await harness.client.waitForOutcome({ ...asked, timeoutMilliseconds: 120_000 });
  }
});

afterAll(() => harness.stop());

const brokenIn = async (sql: Database): Promise<string[]> =>
  (await verify(sql)).invariants.filter(({ breaches }) => breaches.length > 0).map(({ name }) => name);

const rolledBack = new Error('rolled back');

/** Names of the broken invariants after a change that the database would refuse, made with its triggers off and undone again. */
async function brokenAfter(change: (sql: Database) => Promise<unknown>): Promise<string[]> {
  let broken: string[] = [];
  await harness.database
    .begin(async (transaction) => {
      await transaction`set local session_replication_role = replica`;
      // A transaction answers the same queries as a pool.
      const sql = transaction as unknown as Database;
      await change(sql);
      broken = await brokenIn(sql);
      throw rolledBack;
    })
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  return broken;
}

test('all invariants hold for a compacted conversation of several turns', async () => {
  const { invariants, ...counts } = await verify(harness.database);
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  expect(invariants.length).toBeGreaterThan(15);
  expect(counts).toMatchObject({ conversations: 1, turns: 3, repeatedCalls: [] });
  expect(counts.entries).toBeGreaterThan(2 * FILES);
});

const newest = (sql: Database, table: string) => sql`(select id from ${sql(table)} order by id desc limit 1)`;

const DAMAGES: readonly (readonly [string, (sql: Database) => Promise<unknown>])[] = [
  ['log_without_gaps', (sql) => sql`delete from entries where sequence = 5`],
  [
    'head_is_newest',
    (sql) => sql`update conversations set head_entry_id = (select id from entries where sequence = 3)`,
  ],
  [
    'sums_along_parents',
    (sql) => sql`update entries set measurements = measurements + measurements where sequence = 4`,
  ],
  ['message_enters_once', (sql) => sql`delete from entries where kind = 'user'`],
  ['message_enters_once', (sql) => sql`update messages set turn_id = null`],
  [
    'messages_in_order',
    async (sql) => {
      await sql`alter table messages alter position drop identity`;
      await sql`update messages set position = -position where mode = 'queue'`;
    },
  ],
  ['one_result_per_call', (sql) => sql`delete from tool_calls where call_number = 2`],
  ['one_result_per_call', (sql) => sql`update tool_calls set result_entry_id = entry_id where call_number = 3`],
  ['events_without_gaps', (sql) => sql`delete from events where number = 4`],
  [
    'events_once',
    (sql) => sql`
    update events set data = data || '{"callNumber": 2}' where kind = 'model_call_answered' and data ->> 'callNumber' = '3'`,
  ],
  ['events_once', (sql) => sql`update events set kind = 'turn_ended' where kind = 'turn_begun'`],
  [
    'ended_turn_leaves_nothing_open',
    (sql) => sql`
    update tool_calls set state = 'claimed', finished_at = null, outcome = null, result_entry_id = null, attempt = 1, claimed_at = now()
    where call_number = 2`,
  ],
  [
    'open_turn_is_active',
    (sql) => sql`update turns set outcome = null, ended_at = null where id = ${newest(sql, 'turns')}`,
  ],
  [
    'one_answer_per_call',
    (sql) => sql`
    insert into model_calls (turn_id, call_number, attempt, conversation_id, epoch, model, head_entry_id, compactions, view_fingerprint,
      renderer_version, estimated_tokens, measurements, state, entry_id, ended_at)
    select turn_id, call_number, attempt + 1, conversation_id, epoch, model, head_entry_id, compactions, view_fingerprint,
      renderer_version, estimated_tokens, measurements, state, entry_id, ended_at
    from model_calls where call_number = 3`,
  ],
  [
    'one_recovery_per_turn',
    (sql) => sql`
    update compactions set reason = 'overflow', turn_id = (select id from turns order by id limit 1) where status = 'committed'`,
  ],
  ['usage_adds_up', (sql) => sql`update turns set input_tokens = input_tokens + 1`],
  ['compactions_numbered', (sql) => sql`update conversations set compactions = compactions + 1`],
  ['compaction_is_whole', (sql) => sql`delete from compaction_operations`],
  ['compaction_is_whole', (sql) => sql`update compaction_parts set state = 'planned', text = null`],
  [
    'lineage_complete',
    (sql) => sql`update compaction_parts set from_sequence = to_sequence where from_sequence < to_sequence`,
  ],
  [
    'plan_has_open_turn',
    (sql) => sql`
    update compactions set status = 'planned', finished_at = null, number = null, marker_entry_id = null, committed_head_entry_id = null,
      view_after = null, tokens_after = null where id = ${newest(sql, 'compactions')}`,
  ],
  [
    'view_rebuilds',
    (sql) => sql`
    update entries set content = '[{"type":"text","text":"Say The fourth turn is done."}]' where kind = 'user' and sequence > 3`,
  ],
];

describe('a damage is found by the invariant that forbids it', () => {
  test.each(DAMAGES)('%s', async (name, damage) => {
    expect(await brokenAfter(damage)).toContain(name);
  });
});

describe('Temporal', () => {
  test('an open turn whose workflow is gone is named', async () => {
    const [before] = await verifyTemporal(harness.database, harness.temporal, { conversationId, limit: 5 });
    expect(before).toMatchObject({ name: 'open_turn_has_workflow', breaches: [] });
    await harness.database
      .begin(async (transaction) => {
        await transaction`set local session_replication_role = replica`;
        await transaction`update turns set outcome = null, ended_at = null where id = ${newest(transaction as unknown as Database, 'turns')}`;
        const sql = transaction as unknown as Database;
        const [after] = await verifyTemporal(sql, harness.temporal, { conversationId, limit: 5 });
        expect(after?.breaches).toMatchObject([
          { conversationId, found: expect.stringContaining('COMPLETED') as string },
        ]);
        throw rolledBack;
      })
      .catch((error: unknown) => {
        if (error !== rolledBack) throw error;
      });
  });

  test('a payload over the limit is named', async () => {
    const [, payloads] = await verifyTemporal(harness.database, harness.temporal, { conversationId, limit: 5 });
    expect(payloads).toMatchObject({ name: 'payloads_are_small', breaches: [] });
    const [, strict] = await verifyTemporal(
      harness.database,
      harness.temporal,
      { conversationId, limit: 5 },
      {
        payloadLimit: 10,
      },
    );
    expect(strict?.breaches).toHaveLength(3);
  });
});

describe('holdfast verify', () => {
  test('prints each invariant and ends with 0 when all hold', async () => {
    const { code, stdout } = await runInProcess(['verify', 'last', '--histories'], {
      environment: harness.environment,
    });
    expect(stdout).toContain('✓ log_without_gaps: ');
    expect(stdout).toContain('✓ payloads_are_small: ');
    expect(stdout).toMatch(/1 conversation, 3 turns, \d+ entries: all \d+ invariants hold\.\n$/u);
    expect(code).toBe(0);
  });

  test('names what does not hold and ends with 1', async () => {
    await harness.database`alter table turns disable trigger all`;
    await harness.database`update turns set input_tokens = input_tokens + 1 where conversation_id = ${conversationId}`;
    try {
      const text = await runInProcess(['verify'], { environment: harness.environment });
      expect(text.code).toBe(1);
      expect(text.stdout).toMatch(/✗ usage_adds_up: .*\n {4}[0-9a-f-]{36} {2}turn /u);
      const json = await runInProcess(['verify', '--json'], { environment: harness.environment });
      expect(JSON.parse(json.stdout)).toMatchObject({ violations: 3, conversations: 1 });
    } finally {
      await harness.database`update turns set input_tokens = input_tokens - 1 where conversation_id = ${conversationId}`;
      await harness.database`alter table turns enable trigger all`;
    }
  });
});
