import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '@temporalio/client';
import { projectView } from '../../src/context/view/project-view.ts';
import type { Database } from '../../src/store/database/database.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { readCurrentProjectionSource } from '../../src/store/log/view.ts';
import type { Breach } from '../../src/verify/invariant.ts';
import { verifyTemporal } from '../../src/verify/temporal-invariants.ts';
import type { TemporalChecks } from '../../src/verify/temporal-invariants.ts';
import { INVARIANTS, verify } from '../../src/verify/verify.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { DAMAGES, askAbout, leaveBranch, newest } from './damages.ts';

const FILES = 16;

let conversationId: string;

const harness = useTurnHarness({ agent: { model: 'simulator/sim-8k' } });

beforeAll(async () => {
  for (let file = 1; file <= FILES; file += 1) {
    const lines = Array.from({ length: 100 }, (_, index) => `pump ${file * 100 + index} opens at ${index} bar\n`);
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  await harness.startWorker();
  const turn = await harness.runTask(`Call read_file with {"path": "log-$index.txt"} ${FILES} times, one by one`);
  ({ conversationId } = turn);
  expect(turn.compactions).toBeGreaterThan(1);
  for (const content of ['Say The second turn is done.', 'Say The third turn is done.']) {
    const asked = await harness.client.conversation.send({ conversationId, content, mode: 'queue' });
    await harness.client.conversation.outcome({ ...asked, timeoutMilliseconds: 240_000 });
  }
});

const brokenIn = async (sql: Database): Promise<string[]> =>
  (await verify(sql)).invariants.filter(({ breaches }) => breaches.length > 0).map(({ name }) => name);

const rolledBack = new Error('rolled back');

/** What is seen after a change that the database would refuse, made with its triggers off and undone again. */
async function seenAfter<Seen>(
  change: (sql: Database) => Promise<unknown>,
  look: (sql: Database) => Promise<Seen>,
): Promise<Seen | undefined> {
  let seen: Seen | undefined;
  await harness.database
    .begin(async (transaction) => {
      await transaction`set local role none`;
      await transaction`set local session_replication_role = replica`;
      // For a look at Temporal from a busy machine.
      await transaction`set local idle_in_transaction_session_timeout = 0`;
      // A transaction answers the same queries as a pool.
      const sql = transaction as unknown as Database;
      await change(sql);
      seen = await look(sql);
      throw rolledBack;
    })
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  return seen;
}

test('all invariants hold for a compacted conversation of several turns', async () => {
  const { invariants, ...counts } = await verify(harness.database);
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  expect(invariants.length).toBeGreaterThan(15);
  expect(counts).toMatchObject({ conversations: 1, turns: 3, repeatedCalls: [] });
  expect(counts.entries).toBeGreaterThan(2 * FILES);
});

test('a branch and the summary of what it left hold', async () => {
  expect(await seenAfter((sql) => leaveBranch(sql, { from: 6, through: 'end' }), brokenIn)).toEqual([]);
});

test('a compaction that is at work has parts to write and no marker', async () => {
  const broken = await seenAfter(
    (sql) => sql`
      with opened as (
        update compactions set status = 'planned', finished_at = null, number = null, marker_entry_id = null,
          view_after = null, tokens_after = null
        where id = ${newest(sql, 'compactions')} returning id)
      update compaction_parts set state = 'planned', text = null where compaction_id in (select id from opened)`,
    brokenIn,
  );
  expect(broken).not.toContain('compaction_is_whole');
});

test('a call that was allowed holds', async () => {
  expect(await seenAfter((sql) => askAbout(sql, 'approved'), brokenIn)).toEqual([]);
});

describe('a damage is found by the invariant that forbids it', () => {
  test.each(DAMAGES)('%s', async (name, damage) => {
    const invariant = INVARIANTS.find((each) => each.name === name);
    const breaches = await seenAfter(damage, async (sql) => invariant?.find(sql, { conversationId: null, limit: 1 }));
    expect(breaches).toHaveLength(1);
  });
});

test('a damaged entry is shown as that, and the view of the others can be read', async () => {
  const damage = (sql: Database) =>
    sql`update entries set content = '[{"type":"tool_call","id":7,"arguments":{}}]' where kind = 'assistant'`;
  const shown = await seenAfter(damage, async (sql) => {
    const source = await readCurrentProjectionSource(sql, conversationId);
    const entries = await listEntries(sql, { conversationId, kinds: ['assistant'], limit: 1 });
    return { entries, messages: source === null ? [] : projectView(source.input).messages };
  });
  const told = [{ type: 'text', text: '(This entry is damaged and cannot be read.)' }];
  expect(shown?.entries).toMatchObject([{ content: told }]);
  expect(shown?.messages).toContainEqual(expect.objectContaining({ role: 'assistant', content: told }));
});

describe('Temporal', () => {
  /** What is said of the newest turn when it has no outcome although its workflow has completed; `meanwhile` happens while Temporal is asked. */
  async function saidOfOpenTurn(
    { age = '0', ...checks }: TemporalChecks & { readonly age?: string },
    meanwhile: (sql: Database, turnId: string) => PromiseLike<unknown> = () => Promise.resolve(),
  ): Promise<readonly Breach[] | undefined> {
    const leaveOpen = (sql: Database) => sql`
      update turns set outcome = null, ended_at = null, begun_at = begun_at - ${age}::interval
      where id = ${newest(sql, 'turns')}`;
    return seenAfter(leaveOpen, async (sql) => {
      const [turn] = await sql<{ id: string }[]>`select ${newest(sql, 'turns')} as id`;
      const temporal = askedWhile(() => meanwhile(sql, turn?.id ?? ''));
      const { invariants } = await verifyTemporal(sql, temporal, scope(), checks);
      expect(invariants[0]?.name).toBe('open_turn_has_workflow');
      return invariants[0]?.breaches;
    });
  }

  /** The harness's client, of which a workflow is described after something else has happened. */
  function askedWhile(happens: () => PromiseLike<unknown>): Client {
    const { temporal } = harness;
    const getHandle: Client['workflow']['getHandle'] = (...args) => {
      const handle = temporal.workflow.getHandle(...args);
      const describe = async () => {
        await happens();
        return handle.describe();
      };
      return { ...handle, describe } as typeof handle;
    };
    const workflow = Object.assign(Object.create(temporal.workflow) as Client['workflow'], { getHandle });
    return Object.assign(Object.create(temporal) as Client, { workflow });
  }

  test('an open turn whose workflow is gone is named', async () => {
    const [before] = (await verifyTemporal(harness.database, harness.temporal, scope())).invariants;
    expect(before).toMatchObject({ name: 'open_turn_has_workflow', breaches: [] });
    expect(await saidOfOpenTurn({ upkeepSeconds: 0 })).toMatchObject([
      { conversationId, found: expect.stringContaining('COMPLETED') as string },
    ]);
  });

  test('a turn that ends while Temporal is asked about it is no breach', async () => {
    const end = (sql: Database, turnId: string) =>
      sql`update turns set outcome = 'completed', ended_at = holdfast_now() where id = ${turnId}`;
    expect(await saidOfOpenTurn({ upkeepSeconds: 0 }, end)).toEqual([]);
  });

  test('an open turn that upkeep has had no time to end is no breach', async () => {
    expect(await saidOfOpenTurn({ upkeepSeconds: 3_600 })).toEqual([]);
  });

  test('nor is an old one whose workflow has just closed', async () => {
    const grownOld = { upkeepSeconds: 3_600, age: '1 day' };
    expect(await saidOfOpenTurn(grownOld)).toEqual([]);
    expect(await saidOfOpenTurn({ ...grownOld, upkeepSeconds: 0 })).toHaveLength(1);
  });

  const scope = () => ({ conversationId, limit: 5 });

  test('a payload over the limit is named', async () => {
    const read = await verifyTemporal(harness.database, harness.temporal, scope());
    expect(read.invariants[1]).toMatchObject({ name: 'payloads_are_small', breaches: [] });
    expect(read.histories).toEqual({ turns: 3, turnsRead: 3, histories: 3, gone: [] });
    const strict = await verifyTemporal(harness.database, harness.temporal, scope(), { payloadLimit: 10 });
    expect(strict.invariants[1]?.breaches).toHaveLength(3);
  });

  test('histories that were not read, and runs that Temporal no longer has, are counted apart', async () => {
    const { histories } = await verifyTemporal(harness.database, harness.temporal, scope(), { turns: 1 });
    expect(histories).toMatchObject({ turns: 3, turnsRead: 1, gone: [] });
    const runId = randomUUID();
    const read = await seenAfter(
      (sql) => sql`update turns set run_id = ${runId} where id = ${newest(sql, 'turns')}`,
      (sql) => verifyTemporal(sql, harness.temporal, scope(), { turns: null }),
    );
    expect(read?.histories).toMatchObject({ turnsRead: 3, gone: [{ conversationId, runId }] });
  });
});

describe('holdfast verify', () => {
  test('prints each invariant and ends with 0 when all hold', async () => {
    const { code, stdout } = await runInProcess(['verify', 'last'], { environment: harness.environment });
    expect(stdout).toContain('✓ log_without_gaps: ');
    expect(stdout).toContain('✓ payloads_are_small: ');
    expect(stdout).toMatch(/\d+ histories of 3 turns read from Temporal\.\n/u);
    expect(stdout).toMatch(/1 conversation, 3 turns, \d+ entries: all \d+ invariants hold\.\n$/u);
    expect(code).toBe(0);
  });

  test('leaves Temporal out when it is not reached or not wanted, and says so', async () => {
    const away = { ...harness.environment, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const unreached = await runInProcess(['verify'], { environment: away });
    expect([unreached.code, unreached.stdout]).toEqual([0, expect.stringContaining('Temporal was not read.')]);
    expect((await runInProcess(['verify', '--histories'], { environment: away })).code).not.toBe(0);
    const unwanted = await runInProcess(['verify', '--no-histories', '--json'], { environment: harness.environment });
    expect(JSON.parse(unwanted.stdout)).toMatchObject({ violations: 0, histories: null });
    const few = await runInProcess(['verify', '--turns', '2'], { environment: harness.environment });
    expect(few.stdout).toContain('of 2 turns read from Temporal; 1 older turn not read');
    expect((await runInProcess(['verify', '--turns', '0'], { environment: harness.environment })).code).toBe(2);
  });

  test('compares the ledger with a journal', async () => {
    const [call] = await harness.database<{ key: string }[]>`
      select turn_id || ':' || call_number || ':' || call_index as key from tool_calls limit 1`;
    const file = join(harness.workspace, 'journal.jsonl');
    const line = `${JSON.stringify({ tool: 'read_file', effect: 'once', key: call?.key })}\n`;
    await writeFile(file, line + line);
    const { code, stdout } = await runInProcess(['verify', '--journal', file], { environment: harness.environment });
    expect(code).toBe(5);
    expect(stdout).toContain(`call ${call?.key}: acted 2 times`);
    expect(stdout).toContain('1 call with an effect in the journal.');
    await writeFile(file, `half\n${line}`);
    const invalid = await runInProcess(['verify', '--journal', file], { environment: harness.environment });
    expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringContaining('Line 1 of')]);
    await rm(file);
  });

  test('names what does not hold and ends with 1', async () => {
    await harness.database`alter table turns disable trigger all`;
    await harness.database`update turns set input_tokens = input_tokens + 1 where conversation_id = ${conversationId}`;
    try {
      const text = await runInProcess(['verify'], { environment: harness.environment });
      expect(text.code).toBe(5);
      expect(text.stdout).toMatch(/✗ usage_adds_up: .*\n {4}[0-9a-f-]{36} {2}turn /u);
      const json = await runInProcess(['verify', '--json'], { environment: harness.environment });
      expect(JSON.parse(json.stdout)).toMatchObject({ violations: 4, conversations: 1 });
    } finally {
      await harness.database`update turns set input_tokens = input_tokens - 1 where conversation_id = ${conversationId}`;
      await harness.database`alter table turns enable trigger all`;
    }
  });
});
