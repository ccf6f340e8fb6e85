import { expect, it } from 'vitest';
import { requireBranchKept } from '../../src/store/branch-commands.ts';
import { changeBranch, readBranchCommand } from '../../src/store/change-branch.ts';
import type { Database } from '../../src/store/database.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { listWaitingMessages } from '../../src/store/messages.ts';
import { waitUntil } from '../support/wait-until.ts';
import { command, end } from './support/branch-builders.ts';
import {
  answer,
  closeToolCall,
  continueConversation,
  send,
  startTurn,
  useTestStore,
} from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

/** A conversation whose task was stopped. */
async function stoppedTask(): Promise<string> {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1);
  await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
  return turn.conversationId;
}

const resume = (conversationId: string, onBranch?: number) =>
  send(sql, { conversationId, kind: 'resume', raise: {}, content: [], ...(onBranch !== undefined && { onBranch }) });

const sessionsThatWait = () => sql`
  select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;

it('a resume that was judged before a change of branch and is stored behind it is refused, and leaves no row', async () => {
  const conversationId = await stoppedTask();
  await sql.unsafe(`
    create function wait_for_test() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
    create constraint trigger hold_commit after insert on messages deferrable initially deferred
      for each row when (new.kind = 'fork') execute function wait_for_test()`);
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(4711)`;
  const forking = command(sql, conversationId, { entryId: null, summarizes: false });
  await waitUntil('the fork is to commit', async () => (await sessionsThatWait()).length === 1);
  await requireBranchKept(sql, conversationId);
  const resuming = Promise.allSettled([resume(conversationId, 0)]);
  await waitUntil('the resume waits for it', async () => (await sessionsThatWait()).length === 2);
  await holder`select pg_advisory_unlock(4711)`;
  holder.release();
  await forking;
  await sql`drop trigger hold_commit on messages`;
  expect(await resuming).toMatchObject([{ status: 'rejected', reason: { code: 'conversation_busy' } }]);
  expect((await listWaitingMessages(sql, conversationId)).map(({ kind }) => kind)).toEqual(['fork']);
});

it('a resume that was judged on a branch which was left meanwhile is refused', async () => {
  const conversationId = await stoppedTask();
  await command(sql, conversationId, { entryId: null, summarizes: false });
  const turn = await continueConversation(sql, conversationId);
  const read = await readBranchCommand(sql, turn);
  if (read.kind !== 'command') throw new Error(`the command is ${read.kind}`);
  await changeBranch(sql, turn, read.command, null);
  await end(sql, turn);
  await expect(resume(conversationId, 0)).rejects.toMatchObject({ code: 'conversation_busy' });
  await resume(conversationId, 1);
});
