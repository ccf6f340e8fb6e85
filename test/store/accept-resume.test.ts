import { describe, expect, it, test } from 'vitest';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { acceptMessage, insertMessage } from '../../src/store/messages/messages.ts';
import type { MessageInput } from '../../src/store/messages/messages.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import { beginTurn, readTurnForMessage } from '../../src/store/turns/turns.ts';
import type { AgentSnapshot } from '../../src/turn/agent-snapshot.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { waitUntil } from '../support/wait-until.ts';
import { command, go } from './support/branch-builders.ts';
import {
  answer,
  begin,
  closeToolCall,
  continueConversation,
  endedAs,
  headOf,
  said,
  send,
  SNAPSHOT,
  startTurn,
  text,
  useTestStore,
} from './support/store-builders.ts';
import type { SpendingLimits } from '../../src/turn/spending.ts';

const { sql, owner } = useTestStore();

/** A conversation whose task was stopped. */
async function stoppedTask(): Promise<string> {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1);
  await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
  return turn.conversationId;
}

const resume = (conversationId: string) => send(sql, { conversationId, kind: 'resume', raise: {}, content: [] });

const sessionsThatWait = () => sql`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

it('a resume that waits behind a change of branch is refused, and leaves no row', async () => {
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
  const resuming = Promise.allSettled([resume(conversationId)]);
  await waitUntil('the resume waits for it', async () => (await sessionsThatWait()).length === 2);
  await holder`select pg_advisory_unlock(4711)`;
  holder.release();
  await forking;
  await owner`drop trigger hold_commit on messages`;
  expect(await resuming).toMatchObject([{ status: 'rejected', reason: { code: 'conversation_busy' } }]);
  expect((await listWaitingMessages(sql, conversationId)).map(({ kind }) => kind)).toEqual(['fork']);
});

it('a resume goes on with the task of its own branch, and names one that is open elsewhere', async () => {
  const done = await startTurn(sql);
  const { conversationId } = done;
  const question = await headOf(sql, conversationId);
  await answer(sql, done, 1);
  await endedAs(sql, done);
  const refusal = (words: string) => ({
    code: 'nothing_to_resume',
    message: `conversation ${conversationId} ${words}`,
  });
  await go(sql, conversationId, { entryId: await headOf(sql, conversationId), summarizes: false });
  await expect(resume(conversationId)).rejects.toMatchObject(refusal('completed its last turn'));
  await send(sql, { conversationId, ...text('Say more') });
  await endedAs(sql, await continueConversation(sql, conversationId), { outcome: 'stopped' });
  const open = 'the turn of branch 1 is not done: "holdfast branch switch';
  const elsewhere = `; ${open} ${conversationId} 1" goes back to it`;
  await go(sql, conversationId, { branch: 0, summarizes: false });
  await expect(resume(conversationId)).rejects.toMatchObject(refusal(`completed its last turn${elsewhere}`));
  await go(sql, conversationId, { entryId: null, summarizes: false });
  await expect(resume(conversationId)).rejects.toMatchObject(refusal(`has had no turn on its branch${elsewhere}`));
  // Before the answer stands what was asked; on branch 1 stands the task that was stopped.
  for (const target of [{ entryId: question }, { branch: 1 }]) {
    await go(sql, conversationId, { ...target, summarizes: false });
    await resume(conversationId);
    await endedAs(sql, await continueConversation(sql, conversationId));
  }
});

describe('of two resumes the second', () => {
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

  /** A task that ended at the limit of its conversation, and what two clients send. */
  async function reachedLimit() {
    const turn = await startTurn(sql, 'hello', LIMITED);
    await answer(sql, turn, 1);
    await endedAs(sql, turn, reached);
    const { conversationId } = turn;
    const resumeAs = (id: string): MessageInput => ({
      id,
      conversationId,
      kind: 'resume',
      raise: { cost: 2 },
      content: [],
      measurements: NO_MEASUREMENTS,
    });
    return { conversationId, first: resumeAs(newId()), second: resumeAs(newId()) };
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
    const { conversationId, first, second } = await reachedLimit();
    await acceptMessage(sql, first);
    const turn = await goOn(conversationId);
    await expect(acceptMessage(sql, second)).rejects.toMatchObject({
      code: 'conversation_busy',
      message: `conversation ${conversationId} has a turn that runs`,
    });
    expect(await acceptMessage(sql, first)).toMatchObject({ state: 'duplicate' });
    await endedAs(sql, turn, reached);
    expect(await acceptMessage(sql, first)).toMatchObject({ state: 'duplicate' });
    expect(await listWaitingMessages(sql, conversationId)).toEqual([]);
    expect(await costLimit(conversationId)).toBe(2.4);
  });

  it('is refused when it comes after that turn has completed', async () => {
    const { conversationId, first, second } = await reachedLimit();
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

  it('is refused where it raises the limit by too little that the turn of the first has reached again', async () => {
    const { conversationId, first, second } = await reachedLimit();
    await acceptMessage(sql, first);
    await endedAs(sql, await goOn(conversationId), reached);
    await expect(acceptMessage(sql, { ...second, raise: {} })).rejects.toMatchObject({
      code: 'limit_not_raised',
      message: expect.stringMatching(
        /^the turn ended at conversation_cost_limit, and goes on only with more cost: the least that helps is "holdfast resume .* --cost/u,
      ) as string,
    });
  });

  it('waits for a turn that is just beginning, and is refused', async () => {
    const { conversationId, second } = await reachedLimit();
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
    expect(await resuming).toMatchObject([{ status: 'rejected', reason: { code: 'conversation_busy' } }]);
  });

  it.each(['alone', 'with a message'])(
    'begins nothing and raises nothing when it waits behind a task that is done, %s',
    async (waits) => {
      const { conversationId, first, second } = await reachedLimit();
      await acceptMessage(sql, first);
      await endedAs(sql, await goOn(conversationId));
      const before = await said(sql, conversationId);
      if (waits === 'with a message') await send(sql, { conversationId, mode: 'queue', ...text('Say more') });
      await sql.begin((open) => insertMessage(open, second));
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

type TurnLimits = SpendingLimits['turn'];

/** An agent whose turns are limited so; `null`: in nothing but their steps. */
function limited(turn: TurnLimits | null): { readonly snapshot: Partial<AgentSnapshot> } {
  const spending: SpendingLimits = { turn: { steps: 10, ...turn }, conversation: {}, noteAt: 0.8 };
  return { snapshot: { limits: { steps: 10, ...(turn !== null && { spending }) } } };
}

/** Limits of a turn that resumes one which was stopped, each begun with what was configured then. */
async function resumed(then: TurnLimits | null, raise: TurnLimits, now: TurnLimits | null): Promise<unknown> {
  const turn = await startTurn(sql, 'hello', limited(then));
  await endedAs(sql, turn, { outcome: 'stopped' });
  const { conversationId } = turn;
  await send(sql, { conversationId, kind: 'resume', raise, content: [] });
  const begun = await begin(sql, conversationId, limited(now));
  if (begun.kind !== 'begun') throw new Error('nothing waited');
  return begun.limits?.turn;
}

test.each<[string, TurnLimits | null, TurnLimits, TurnLimits | null, TurnLimits]>([
  ['configured', {}, {}, { cost: 5 }, { steps: 10, cost: 5 }],
  ['configured, where nothing but the steps was limited', null, {}, { cost: 5 }, { steps: 10, cost: 5 }],
  ['configured and raised', {}, { cost: 2 }, { cost: 5 }, { steps: 10, cost: 7 }],
  ['lowered', { cost: 9 }, {}, { cost: 5 }, { steps: 10, cost: 5 }],
  ['lowered, of the steps', null, {}, { steps: 4 }, { steps: 4 }],
  ['raised in the configuration', { cost: 5 }, {}, { cost: 9 }, { steps: 10, cost: 5 }],
  ['taken out', { cost: 5 }, {}, null, { steps: 10, cost: 5 }],
])('a limit that was %s since the turn ended', async (_, then, raise, now, expected) => {
  expect(await resumed(then, raise, now)).toEqual(expected);
});

test('what a resume added is left to the next one too', async () => {
  const turn = await startTurn(sql, 'hello', limited({ cost: 5 }));
  const { conversationId } = turn;
  await endedAs(sql, turn, { outcome: 'stopped' });
  for (const raise of [{ cost: 20 }, {}]) {
    await send(sql, { conversationId, kind: 'resume', raise, content: [] });
    const begun = await begin(sql, conversationId, limited({ cost: 5 }));
    if (begun.kind !== 'begun') throw new Error('nothing waited');
    expect(begun.limits?.turn).toEqual({ steps: 10, cost: 25 });
    await endedAs(sql, begun.turn, { outcome: 'stopped' });
  }
});
