import { expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../../../src/store/database/ids.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { takeMessages } from '../../../src/store/messages/take-messages.ts';
import { end } from '../../store/support/branch-builders.ts';
import { waitForWaiters } from '../../store/support/lock-waits.ts';
import { conversationOf, send, text, useTestStore } from '../../store/support/store-builders.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { parseOutput } from '../cli-result.ts';
import { startCli } from '../run-cli.ts';
import { runInProcess } from '../run-in-process.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

const cli = (...args: string[]) => runInProcess(args, { environment: { DATABASE_URL: url } });

async function found(conversationId: string): Promise<string[]> {
  const shown = z.object({ passages: z.array(z.object({ text: z.string() })) });
  return parseOutput(await cli('recall', conversationId, 'numbat', '--json'), shown).passages.map(({ text }) => text);
}

test('reindex makes what a damaged index has lost be found again, of one conversation or of all', async () => {
  const { conversationId } = await conversationOf(sql, 'The numbat sleeps.', 'Buses were late.');
  const other = await conversationOf(sql, 'The numbat eats.');
  expect(await found(conversationId)).toEqual(['The numbat sleeps.']);
  expect(await found(other.conversationId)).toEqual(['The numbat eats.']);
  await sql`delete from passages`;
  expect([...(await found(conversationId)), ...(await found(other.conversationId))]).toEqual([]);
  expect(await cli('db', 'reindex', conversationId)).toMatchObject({
    code: 0,
    stdout: 'Indexed 2 passages of 1 conversation.\n',
  });
  expect(await found(conversationId)).toEqual(['The numbat sleeps.']);
  expect(await found(other.conversationId)).toEqual([]);
  const all = await cli('db', 'reindex', '--json');
  expect(parseOutput(all, z.object({}).loose())).toEqual({
    conversations: 2,
    passages: 3,
    embedded: 0,
    interrupted: false,
  });
  expect(all.stderr).toBe('');
  expect(await found(other.conversationId)).toEqual(['The numbat eats.']);
});

test('reindex of a conversation that is not there is refused', async () => {
  const unknown = newId();
  const { code, stderr } = await cli('db', 'reindex', unknown);
  expect([code, stderr]).toEqual([2, expect.stringMatching(new RegExp(`no conversation.*${unknown}`, 'u'))]);
});

test('reindex of several tells of each one that is done', async () => {
  const { conversationId } = await conversationOf(sql, 'The quoll digs.', 'Unindexable.');
  const all = await cli('db', 'reindex');
  const done = all.stderr.trimEnd().split('\n');
  const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`select count(*)::int as count from conversations`;
  expect(done).toHaveLength(count);
  expect(done[0]).toBe(`1 of ${count}: conversation ${conversationId.slice(-8)}, 2 passages`);
  expect(done.at(-1)).toMatch(new RegExp(`^${count} of ${count}: conversation [0-9a-f]{8}, \\d+ passages?$`, 'u'));
  const one = await cli('db', 'reindex', conversationId, '--json');
  expect(one.stderr).toBe('');
  expect(JSON.parse(one.stdout)).toMatchObject({ conversations: 1, passages: 2 });
});

test('reindex that is interrupted says so, with exit code 130; what was begun is no conversation that is done', async () => {
  // More than two transactions take up.
  const said = Array.from({ length: 1_010 }, (_, index) => `potoroo${index}`);
  const turn = await conversationOf(sql, ...said.slice(0, 500));
  const { conversationId } = turn;
  for (const word of said.slice(500)) await send(sql, { conversationId, ...text(word) });
  await takeMessages(sql, turn);
  // A search takes up one batch, and says what it left to upkeep.
  expect((await cli('recall', conversationId, 'potoroo1009')).stdout).toMatch(/510 entries are not indexed yet/u);
  expect(await cli('db', 'reindex', conversationId)).toMatchObject({ code: 0 });
  const interrupted = async (...args: string[]) => {
    const running = startCli(['db', 'reindex', ...args], { environment: { DATABASE_URL: url } });
    await sql.begin(async (open) => {
      // The command takes longer to start than a transaction may be idle.
      await open`set local idle_in_transaction_session_timeout = 0`;
      // The row is there or not, by how far an interrupted command came: either way it is waited for.
      await open`
        insert into search_progress (conversation_id) values (${conversationId})
        on conflict (conversation_id) do update set passages = search_progress.passages`;
      await waitUntil('the index is waited for', async () => {
        const waiting = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return waiting.length > 0;
      });
      running.process.kill('SIGINT');
    });
    return running.ended;
  };
  const { code, stdout } = await interrupted();
  expect([code, stdout]).toEqual([
    130,
    expect.stringMatching(
      /^Stopped after 0 conversations, with \d+ passages indexed\.\n.*upkeep.*\n {2}next: npx holdfast db reindex\n$/u,
    ),
  ]);
  const json = await interrupted('--json');
  expect(json.code).toBe(130);
  expect(JSON.parse(json.stdout)).toMatchObject({ conversations: 0, interrupted: true });
});

test('reindex of all goes on behind a conversation that is deleted meanwhile', async () => {
  const [kept, deleted] = [
    await conversationOf(sql, 'The numbat rests.'),
    await conversationOf(sql, 'The numbat left.'),
  ];
  await end(sql, deleted);
  let all: ReturnType<typeof cli> | undefined;
  await sql.begin(async (open) => {
    // Listed as one that is there: the deletion is not done.
    await open`select from delete_conversation(${deleted.conversationId})`;
    all = cli('db', 'reindex');
    await waitForWaiters(open, 1);
  });
  expect(await all).toMatchObject({ code: 0 });
  expect(await found(kept.conversationId)).toEqual(['The numbat rests.']);
});
