import { describe, expect, it } from 'vitest';
import { NO_MEASUREMENTS } from '../../src/context/log/measurement-arithmetic.ts';
import { requireBranchKept } from '../../src/store/conversations/branch-commands.ts';
import { changeBranch, readBranchCommand } from '../../src/store/conversations/change-branch.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { acceptMessage, listWaitingMessages } from '../../src/store/messages/messages.ts';
import type { MessageInput } from '../../src/store/messages/messages.ts';
import { beginTurn, readTurnForMessage } from '../../src/store/turns/turns.ts';
import type { AgentSnapshot } from '../../src/turn/agent-snapshot.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { waitUntil } from '../support/wait-until.ts';
import { command, end } from './support/branch-builders.ts';
import {
  answer,
  begin,
  closeToolCall,
  continueConversation,
  endedAs,
  said,
  send,
  SNAPSHOT,
  startTurn,
  text,
  useTestStore,
} from './support/store-builders.ts';

const { sql, owner } = useTestStore();

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
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

it('a resume that was judged before a change of branch and is stored behind it is refused, and leaves no row', async () => {
  const conversationId = await stoppedTask();
  await owner.unsafe(`
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
  await owner`drop trigger hold_commit on messages`;
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

it('a resume of a turn that lost its workflow is accepted of who found it lost, until another turn has begun', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls: 1 });
  const { conversationId, turnId } = turn;
  const judged = { conversationId, kind: 'resume', raise: {}, content: [], onBranch: 0, onTask: turnId } as const;
  const lost = { ...judged, lostTurnId: turnId };
  await expect(send(sql, judged)).rejects.toMatchObject({ code: 'nothing_to_resume' });
  await send(sql, lost);
  const next = await continueConversation(sql, conversationId);
  await answer(sql, next, 1);
  await expect(send(sql, lost)).rejects.toMatchObject({ code: 'nothing_to_resume' });
  await endedAs(sql, next, { outcome: 'stopped' });
  await expect(send(sql, lost)).rejects.toMatchObject({ code: 'nothing_to_resume' });
});

describe('of two resumes that were judged at the same time, the second', () => {
  /** Turns and the conversation are limited in cost. */
  const LIMITED: { readonly snapshot: Partial<AgentSnapshot> } = {
    snapshot: {
      limits: {
        steps: 10,
        spending: { turn: { steps: 10, cost: 0.4 }, conversation: { cost: 0.4 }, noteAt: 0.8 },
      },
    },
  };
  const reached = { outcome: 'budget_exhausted', reason: 'conversation_cost_limit' } as const;

  /** A task that ended at the limit of its conversation, and what two clients send that have seen it so. */
  async function judgedTwice() {
    const turn = await startTurn(sql, 'hello', LIMITED);
    await answer(sql, turn, 1);
    await endedAs(sql, turn, reached);
    const { conversationId, turnId } = turn;
    const resumeAs = (id: string): MessageInput => ({
      id,
      conversationId,
      kind: 'resume',
      raise: { cost: 2 },
      content: [],
      measurements: NO_MEASUREMENTS,
      onBranch: 0,
      onTask: turnId,
    });
    return { conversationId, ended: turnId, first: resumeAs(newId()), second: resumeAs(newId()) };
  }

  /** Cost that the conversation may have come to by the end of a turn that begins now. */
  async function costLimit(conversationId: string): Promise<number | undefined> {
    await send(sql, { conversationId, ...text('Say more') });
    const begun = await begin(sql, conversationId, LIMITED);
    return begun.kind === 'begun' ? begun.limits?.conversation.cost : undefined;
  }

  async function goOn(conversationId: string): Promise<TurnReference> {
    const turn = await continueConversation(sql, conversationId, LIMITED);
    await answer(sql, turn, 1);
    return turn;
  }

  it('is refused when it comes while the turn of the first runs; the first may be sent again', async () => {
    const { conversationId, first, second } = await judgedTwice();
    await acceptMessage(sql, first);
    const turn = await goOn(conversationId);
    await expect(acceptMessage(sql, second)).rejects.toMatchObject({
      code: 'nothing_to_resume',
      message: `conversation ${conversationId} has a turn that runs: wait for its end, or stop it first`,
    });
    expect(await acceptMessage(sql, first)).toMatchObject({ state: 'duplicate' });
    await endedAs(sql, turn, reached);
    expect(await acceptMessage(sql, first)).toMatchObject({ state: 'duplicate' });
    expect(await listWaitingMessages(sql, conversationId)).toEqual([]);
    expect(await costLimit(conversationId)).toBe(2.4);
  });

  it('is refused when it comes after that turn has completed', async () => {
    const { conversationId, first, second } = await judgedTwice();
    await acceptMessage(sql, first);
    await endedAs(sql, await goOn(conversationId));
    await expect(acceptMessage(sql, second)).rejects.toMatchObject({
      code: 'nothing_to_resume',
      message: `conversation ${conversationId} completed its last turn`,
    });
    expect(await acceptMessage(sql, first)).toMatchObject({ state: 'duplicate' });
    expect(await begin(sql, conversationId)).toEqual({ kind: 'nothing_waiting' });
    expect(await costLimit(conversationId)).toBe(2.4);
  });

  it('is refused when that turn ended at a limit again, which nobody has judged', async () => {
    const { conversationId, first, second } = await judgedTwice();
    await acceptMessage(sql, first);
    const turn = await goOn(conversationId);
    await endedAs(sql, turn, reached);
    await expect(acceptMessage(sql, second)).rejects.toMatchObject({
      code: 'nothing_to_resume',
      message: `conversation ${conversationId} has gone on meanwhile, in a turn that ended at conversation_cost_limit: send the resume again if it is to go on with that one`,
    });
    expect(await acceptMessage(sql, { ...second, onTask: turn.turnId })).toMatchObject({ state: 'accepted' });
  });

  it('is refused when a message has begun a turn meanwhile, however that stands', async () => {
    const { conversationId, second } = await judgedTwice();
    await send(sql, { conversationId, ...text('Say more') });
    const turn = await goOn(conversationId);
    await expect(acceptMessage(sql, second)).rejects.toMatchObject({
      code: 'nothing_to_resume',
      message: expect.stringContaining('has a turn that runs') as string,
    });
    await endedAs(sql, turn);
    await expect(acceptMessage(sql, second)).rejects.toMatchObject({
      code: 'nothing_to_resume',
      message: expect.stringContaining('completed its last turn') as string,
    });
    expect(await costLimit(conversationId)).toBe(0.4);
  });

  it('waits for a turn that is just beginning, and is refused', async () => {
    const { conversationId, second } = await judgedTwice();
    await send(sql, { conversationId, ...text('Say more') });
    let proceed = (): void => undefined;
    const held = new Promise<void>((resolve) => (proceed = resolve));
    let isBeginning = false;
    const beginning = beginTurn(
      sql,
      { conversationId, turnId: newId(), workflowId: newId(), runId: newId(), workerIdentity: 'worker-1' },
      {
        closeToolCall,
        resumeNote: text('Go on.'),
        snapshotFor: () => Promise.resolve({ snapshot: SNAPSHOT, fixed: NO_MEASUREMENTS, rules: null }),
        memoriesFor: async () => {
          isBeginning = true;
          await held;
          return null;
        },
      },
    );
    await waitUntil('the turn is beginning', () => isBeginning);
    const resuming = Promise.allSettled([acceptMessage(sql, second)]);
    await waitUntil('the resume waits for it', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === 1;
    });
    proceed();
    expect(await beginning).toMatchObject({ kind: 'begun' });
    expect(await resuming).toMatchObject([{ status: 'rejected', reason: { code: 'nothing_to_resume' } }]);
  });

  it.each(['alone', 'with a message'])(
    'begins nothing and raises nothing when it waits behind a task that is done, %s',
    async (waits) => {
      const { conversationId, first, second } = await judgedTwice();
      await acceptMessage(sql, first);
      await endedAs(sql, await goOn(conversationId));
      const before = await said(sql, conversationId);
      if (waits === 'with a message') await send(sql, { conversationId, mode: 'queue', ...text('Say more') });
      // As a client of an older version sends it.
      const { onTask: _, ...unjudged } = second;
      await acceptMessage(sql, unjudged);
      const begun = await begin(sql, conversationId, LIMITED);
      expect(await listWaitingMessages(sql, conversationId)).toEqual([]);
      expect(await readTurnForMessage(sql, { conversationId, messageId: second.id })).toEqual({ state: 'served' });
      const after = await said(sql, conversationId);
      if (waits === 'alone') {
        expect(begun).toEqual({ kind: 'nothing_waiting' });
        expect(after).toEqual(before);
        expect(await costLimit(conversationId)).toBe(2.4);
        return;
      }
      expect(begun).toMatchObject({ kind: 'begun', messages: 1, limits: { conversation: { cost: 2.4 } } });
      expect(after).toEqual([...before, 'user Say more']);
    },
  );
});
