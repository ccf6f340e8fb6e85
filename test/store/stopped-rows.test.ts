import { describe, expect, it, test } from 'vitest';
import type { EndTurnRequest } from '../../src/store/turns/end-turn.ts';
import { listEvents, recordEvent } from '../../src/store/log/events.ts';
import { newId } from '../../src/store/database/ids.ts';
import { acceptOnNewBranch } from '../../src/store/messages/messages.ts';
import type { MessageInput } from '../../src/store/messages/messages.ts';
import { changeBranch } from '../../src/store/conversations/change-branch.ts';
import { readBranchCommand } from '../../src/store/conversations/branch-commands.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { verify } from '../../src/verify/verify.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  answer,
  begin,
  continueConversation,
  endedAs,
  said,
  send,
  startTurn,
  text,
  useTestStore,
} from './support/store-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';
import { recordWait, recordWaitOver, recordWorkerWait } from '../../src/store/turns/waits.ts';
import { EXAMPLE_EVENTS } from '../support/example-events.ts';

const { sql, owner } = useTestStore();

/** How the turn ended, and what waits for the next one. */
const end = async (turn: TurnReference, ended: Partial<EndTurnRequest> = {}) => ({
  ...(await endedAs(sql, turn, ended)),
  waiting: await countWaiting(sql, turn.conversationId),
});

const sendStop = (conversationId: string) => send(sql, { conversationId, kind: 'stop' });
const askCompaction = (conversationId: string) => send(sql, { conversationId, kind: 'compact' });

/** A turn that has given its last answer. */
async function answeredTurn(): Promise<TurnReference> {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1);
  return turn;
}

/** Ids of the rows that the turn took. */
async function takenBy({ turnId }: TurnReference): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from messages where turn_id = ${turnId} order by position`;
  return rows.map(({ id }) => id);
}

async function declinedIn({ conversationId }: TurnReference): Promise<unknown[]> {
  const events = await listEvents(sql, { conversationId });
  return events.filter(({ kind }) => kind === 'compaction_declined').map(({ data }) => data);
}

/** But that calls which nobody made are not those of their views. */
async function expectAllHolds({ conversationId }: TurnReference): Promise<void> {
  const { invariants } = await verify(sql, { conversationId });
  const broken = invariants.filter(({ name, breaches }) => breaches.length > 0 && name !== 'view_rebuilds');
  expect(broken).toEqual([]);
}

describe('a stop that comes as the turn ends by itself', () => {
  it('takes the steering messages before it: they stand in the log, and the turn did not complete them', async () => {
    const turn = await answeredTurn();
    const { conversationId } = turn;
    await send(sql, { conversationId, ...text('steered') });
    await sendStop(conversationId);
    await send(sql, { conversationId, ...text('after') });
    expect(await end(turn, { reason: 'answer_cut' })).toMatchObject({
      outcome: 'stopped',
      waiting: { waiting: 1, steering: 1, stopRequested: false },
    });
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ outcome: 'stopped', reason: null });
    expect((await said(sql, conversationId)).slice(-2)).toEqual(['assistant answer 1', 'user steered']);
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', messages: 1, stopRequested: false });
    await expectAllHolds(turn);
  });

  it('leaves the turn completed when nothing was sent before it, and what was queued to the next one', async () => {
    const turn = await answeredTurn();
    const { conversationId } = turn;
    await send(sql, { conversationId, mode: 'queue', ...text('queued') });
    await sendStop(conversationId);
    expect(await end(turn)).toMatchObject({ outcome: 'completed', waiting: { waiting: 1 } });
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', messages: 1, stopRequested: false });
  });

  it('leaves any other outcome as it is', async () => {
    const turn = await answeredTurn();
    await send(sql, { conversationId: turn.conversationId, ...text('steered') });
    await sendStop(turn.conversationId);
    expect(await end(turn, { outcome: 'budget_exhausted', reason: 'step_limit' })).toMatchObject({
      outcome: 'budget_exhausted',
      waiting: { waiting: 0 },
    });
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ reason: 'step_limit' });
    expect((await said(sql, turn.conversationId)).at(-1)).toBe('user steered');
  });

  it('takes the message behind a fork that the turn has made, which goes on no more', async () => {
    const first = await answeredTurn();
    await end(first);
    const { conversationId } = first;
    const rest = { conversationId, content: [], measurements: text('').measurements };
    const fork: MessageInput = { ...rest, id: newId(), kind: 'fork', target: { entryId: null, summarizes: false } };
    await acceptOnNewBranch(sql, fork, { ...rest, ...text('other'), id: newId(), kind: 'message', mode: 'queue' });
    const turn = await continueConversation(sql, conversationId);
    const read = await readBranchCommand(sql, turn);
    if (read.kind !== 'command') throw new Error('the fork waits');
    await changeBranch(sql, turn, read.command, null);
    await sendStop(conversationId);
    expect(await end(turn)).toMatchObject({ outcome: 'stopped', waiting: { waiting: 0 } });
    expect(await said(sql, conversationId)).toEqual(['user other']);
    await expectAllHolds(turn);
  });

  it('waits for the next turn with its messages when it came too late to be read', async () => {
    const turn = await answeredTurn();
    const { conversationId } = turn;
    await sendStop(conversationId);
    let ending: ReturnType<typeof end> | undefined;
    await owner.begin(async (other) => {
      await other`lock table messages in share mode`;
      ending = end(turn);
      await waitUntil('it has read what waits, and is to consume it', async () => {
        const waiting = await other`
          select from pg_locks where relation = 'messages'::regclass and not granted
            and database = (select oid from pg_database where datname = current_database())`;
        return waiting.length > 0;
      });
      for (const kind of ['message', 'stop'])
        await other`
          insert into messages (id, conversation_id, kind, mode, content, measurements)
          values (${newId()}, ${conversationId}, ${kind}, 'steer', '[]', no_measurements())`;
    });
    expect(await ending).toMatchObject({ outcome: 'completed', waiting: { waiting: 2, stopRequested: true } });
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', messages: 1, stopRequested: true });
  });
});

describe('a stop', () => {
  it('takes the compactions before it, and the timeline says so; one behind it gets a turn of its own', async () => {
    for (const outcome of ['stopped', 'completed'] as const) {
      const turn = await answeredTurn();
      const { conversationId } = turn;
      const [asked, stop] = [await askCompaction(conversationId), await sendStop(conversationId)];
      await askCompaction(conversationId);
      expect(await end(turn, { outcome })).toMatchObject({
        outcome,
        waiting: { waiting: 1, compactRequested: true, stopRequested: false },
      });
      expect((await takenBy(turn)).slice(1)).toEqual([asked, stop]);
      expect(await declinedIn(turn)).toEqual([{ reason: 'stopped', tokens: null }]);
      expect(await begin(sql, conversationId)).toMatchObject({
        kind: 'begun',
        commandOnly: true,
        stopRequested: false,
      });
    }
  });

  it('ends a compaction that had a turn of its own, and leaves one that was asked for behind it', async () => {
    const first = await answeredTurn();
    await end(first);
    const { conversationId } = first;
    const asked = await askCompaction(conversationId);
    const turn = await continueConversation(sql, conversationId);
    const stop = await sendStop(conversationId);
    await askCompaction(conversationId);
    expect(await end(turn, { outcome: 'stopped' })).toMatchObject({ waiting: { waiting: 1, compactRequested: true } });
    expect(await takenBy(turn)).toEqual([asked, stop]);
    await expectAllHolds(turn);
  });
});

describe("Temporal's own cancel", () => {
  it('takes what waits, whatever the outcome: messages behind a stop too, and nothing that was queued', async () => {
    for (const outcome of ['stopped', 'completed'] as const) {
      const turn = await answeredTurn();
      const { conversationId } = turn;
      await askCompaction(conversationId);
      await sendStop(conversationId);
      await send(sql, { conversationId, ...text('steered') });
      await send(sql, { conversationId, mode: 'queue', ...text('queued') });
      await askCompaction(conversationId);
      expect(await end(turn, { outcome, cancelled: true })).toMatchObject({
        outcome: 'stopped',
        waiting: { waiting: 1 },
      });
      expect((await said(sql, conversationId)).at(-1)).toBe('user steered');
      expect(await declinedIn(turn)).toHaveLength(1);
      expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', messages: 1, stopRequested: false });
      await expectAllHolds(turn);
    }
  });

  it('leaves a turn completed that had nothing more to do', async () => {
    const turn = await answeredTurn();
    expect(await end(turn, { cancelled: true })).toMatchObject({ outcome: 'completed' });
  });
});

const PAUSE = { reason: 'rate_limit', provider: 'sim', delayMilliseconds: 600_000, retryMilliseconds: 60_000 } as const;
const QUEUE = { reason: 'call_limit', provider: 'sim', delayMilliseconds: 30_000, retryMilliseconds: 2_000 } as const;
const waits = async ({ turnId }: TurnReference) => (await getTurn(sql, turnId)).waitReason !== null;

async function told({ conversationId }: TurnReference) {
  const events = await listEvents(sql, { conversationId });
  return events.filter(({ kind }) => kind.startsWith('turn_wait')).map(({ kind }) => kind);
}

test.each([
  [
    'its call is made',
    (turn: TurnReference) =>
      recordEvent(sql, { turn, kind: 'model_call_started', data: EXAMPLE_EVENTS.model_call_started }),
  ],
  ['a summary says that its wait is over', (turn: TurnReference) => recordWaitOver(sql, turn)],
])('a turn waits for its provider until %s, whatever is written beside it', async (_, end) => {
  const turn = await startTurn(sql);
  await recordWait(sql, turn, PAUSE);
  await recordEvent(sql, { turn, kind: 'compaction_part_written', data: EXAMPLE_EVENTS.compaction_part_written });
  expect(await waits(turn)).toBe(true);
  await end(turn);
  expect(await waits(turn)).toBe(false);
});

test('a turn waits for as long as it was told, and not longer', async () => {
  const turn = await startTurn(sql);
  await recordWait(sql, turn, { ...PAUSE, delayMilliseconds: -1 });
  expect(await waits(turn)).toBe(false);
});

test('a wait is told once, however often the call asks, and again before it ends or when the reason changes', async () => {
  const turn = await startTurn(sql);
  for (let attempt = 0; attempt < 3; attempt += 1) await recordWait(sql, turn, PAUSE);
  for (let attempt = 0; attempt < 3; attempt += 1) await recordWait(sql, turn, QUEUE);
  expect(await told(turn)).toEqual(['turn_waiting', 'turn_waiting']);
  await recordWait(sql, turn, { ...QUEUE, retryMilliseconds: 40_000, delayMilliseconds: 60_000 });
  expect(await told(turn)).toHaveLength(3);
});

test('a call that did not wait tells of no wait that is over', async () => {
  const turn = await startTurn(sql);
  await recordWaitOver(sql, turn);
  expect(await told(turn)).toEqual([]);
});

test('a wait for a worker is told once, beside another one too, lasts until it is over, and is told again after that', async () => {
  const turn = await startTurn(sql);
  const of = { conversationId: turn.conversationId, turn };
  const convert = { needs: 'tool', name: 'convert' } as const;
  const act = { needs: 'tool', name: 'act' } as const;
  for (const need of [convert, act, convert, act]) await recordWorkerWait(sql, of, need);
  expect(await told(turn)).toEqual(['turn_waiting', 'turn_waiting']);
  expect((await getTurn(sql, turn.turnId)).waitReason).toBe('no_worker');
  await recordWaitOver(sql, turn);
  expect(await waits(turn)).toBe(false);
  await recordWorkerWait(sql, of, act);
  expect(await waits(turn)).toBe(true);
});

test('a wait before a turn begins is told once, and again when the next one cannot begin either', async () => {
  const { conversationId, ...turn } = await startTurn(sql);
  const before = { conversationId, turn: null };
  const need = { needs: 'agent', name: 'other' } as const;
  for (let attempt = 0; attempt < 3; attempt += 1) await recordWorkerWait(sql, before, need);
  const of = { conversationId, ...turn };
  expect(await told(of)).toEqual(['turn_waiting']);
  await recordEvent(sql, { turn: of, kind: 'turn_begun', data: EXAMPLE_EVENTS.turn_begun });
  await recordWorkerWait(sql, before, need);
  expect(await told(of)).toEqual(['turn_waiting', 'turn_waiting']);
});
