import { describe, expect, it, test } from 'vitest';
import { readBranchTasks } from '../../src/store/conversations/branches.ts';
import { changeBranch, refuseBranchCommand } from '../../src/store/conversations/change-branch.ts';
import { readBranchCommand } from '../../src/store/conversations/branch-commands.ts';
import { commitCompaction } from '../../src/store/compactions/commit-compaction.ts';
import type { EndTurnRequest } from '../../src/store/turns/end-turn.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { declineCompaction } from '../../src/store/messages/waiting.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import { getTurn, readTurnForMessage } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { verify } from '../../src/verify/verify.ts';
import { command } from './support/branch-builders.ts';
import { commitRequest, plan, turnWithSteps } from './support/compaction-builders.ts';
import {
  answer,
  continueConversation,
  endedAs,
  said,
  send,
  startTurn,
  text,
  useTestStore,
} from './support/store-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';
import type { MessageKind } from '../../src/store/messages/messages.ts';
import { isStopMeant } from '../../src/store/messages/stops.ts';

const { sql } = useTestStore();

/** How the turn ended, and what waits for the next one. */
const end = async (turn: TurnReference, ended: Partial<EndTurnRequest> = {}) => ({
  ...(await endedAs(sql, turn, ended)),
  waiting: await countWaiting(sql, turn.conversationId),
});

/** A turn that is to fork before everything that was said. */
async function forkingTurn(): Promise<TurnReference> {
  const first = await startTurn(sql);
  await answer(sql, first, 1);
  await end(first);
  await command(sql, first.conversationId, { entryId: null, summarizes: false });
  return continueConversation(sql, first.conversationId);
}

async function carryOut(turn: TurnReference): Promise<void> {
  const read = await readBranchCommand(sql, turn);
  if (read.kind !== 'command') throw new Error(`the command is ${read.kind}`);
  await changeBranch(sql, turn, read.command, null);
}

async function refuse(turn: TurnReference): Promise<void> {
  const [fork] = await listWaitingMessages(sql, turn.conversationId);
  await refuseBranchCommand(sql, turn, { messageId: fork?.id ?? '', refusal: 'conversation_busy' });
}

/** Sends what the new branch is to answer, a stop, and one message behind that. Ids of the first two. */
async function sendAndStop({ conversationId }: TurnReference): Promise<string[]> {
  const sent = [
    await send(sql, { conversationId, ...text('on the new branch') }),
    await send(sql, { conversationId, mode: 'queue', ...text('and then this') }),
  ];
  await send(sql, { conversationId, kind: 'stop' });
  await send(sql, { conversationId, ...text('where it was') });
  return sent;
}

/** But that calls which nobody made are not those of their views. */
async function expectAllHolds({ conversationId }: TurnReference): Promise<void> {
  const { invariants } = await verify(sql, { conversationId });
  const broken = invariants.filter(({ name, breaches }) => breaches.length > 0 && name !== 'view_rebuilds');
  expect(broken).toEqual([]);
}

describe('a change of branch that a stop keeps from being carried out', () => {
  it.each(['cut off', 'refused'] as const)(
    'takes back what was sent to the new branch before the stop, and tells how it ended: %s',
    async (how) => {
      const turn = await forkingTurn();
      const { conversationId } = turn;
      if (how === 'refused') await refuse(turn);
      const sent = await sendAndStop(turn);
      const reason = how === 'refused' ? 'conversation_busy' : null;
      const outcome = how === 'refused' ? 'completed' : 'stopped';
      expect(await end(turn, { outcome, reason })).toMatchObject({ outcome: 'stopped', waiting: { waiting: 1 } });
      for (const messageId of sent) {
        const ended = await readTurnForMessage(sql, { conversationId, messageId });
        expect(ended).toMatchObject({
          state: 'taken',
          turn: { turn: { turnId: turn.turnId }, outcome: 'stopped', reason, tookMessages: false },
        });
      }
      await continueConversation(sql, conversationId);
      expect(await said(sql, conversationId)).toEqual(['user hello', 'assistant answer 1', 'user where it was']);
      const events = await listEvents(sql, { conversationId });
      expect(events.filter(({ kind }) => kind === 'branch_refused')).toHaveLength(1);
      await expectAllHolds(turn);
    },
  );

  it("takes back with Temporal's own cancel all that waits", async () => {
    const turn = await forkingTurn();
    await sendAndStop(turn);
    expect(await end(turn, { outcome: 'stopped', cancelled: true })).toMatchObject({
      waiting: { waiting: 0 },
    });
    expect(await said(sql, turn.conversationId)).toEqual(['user hello', 'assistant answer 1']);
    await expectAllHolds(turn);
  });

  it('leaves to the next turn what no stop was meant for', async () => {
    const turn = await forkingTurn();
    await send(sql, { conversationId: turn.conversationId, ...text('on the new branch') });
    expect(await end(turn, { outcome: 'interrupted', reason: 'agent_unknown' })).toMatchObject({
      waiting: { waiting: 1 },
    });
  });
});

describe('a command that was carried out before it was stopped', () => {
  it.each(['stopped', 'completed'] as const)(
    'is told apart when it is a change of branch, with what was sent to the new branch standing there: %s',
    async (outcome) => {
      const turn = await forkingTurn();
      const { conversationId } = turn;
      await carryOut(turn);
      await sendAndStop(turn);
      expect(await end(turn, { outcome })).toMatchObject({ outcome: 'stopped', waiting: { waiting: 2, steering: 1 } });
      expect(await getTurn(sql, turn.turnId)).toMatchObject({ reason: 'branch_changed', tookMessages: true });
      expect(await said(sql, conversationId)).toEqual(['user on the new branch']);
      expect((await readBranchTasks(sql, conversationId)).find(({ active }) => active)).toMatchObject({
        turnId: turn.turnId,
        isDone: false,
      });
      await expectAllHolds(turn);
    },
  );

  it('is told apart when it is a compaction', async () => {
    const first = await turnWithSteps(sql);
    const { conversationId } = first;
    await end(first);
    await send(sql, { conversationId, kind: 'compact' });
    const turn = await continueConversation(sql, conversationId);
    const { compaction } = await plan(sql, turn);
    await commitCompaction(sql, { ...commitRequest(turn, compaction.compactionId), continuation: null });
    await send(sql, { conversationId, ...text('steered') });
    await send(sql, { conversationId, kind: 'stop' });
    expect(await end(turn)).toMatchObject({ outcome: 'stopped' });
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ reason: 'compacted', tookMessages: true });
  });

  it('keeps the reason when there was nothing to do', async () => {
    const first = await startTurn(sql);
    const { conversationId } = first;
    await end(first);
    const requests = [await send(sql, { conversationId, kind: 'compact' })];
    const turn = await continueConversation(sql, conversationId);
    await declineCompaction(sql, turn, { requests, reason: 'nothing_to_compact', tokens: 10 });
    await send(sql, { conversationId, ...text('steered') });
    await send(sql, { conversationId, kind: 'stop' });
    expect(await end(turn, { reason: 'nothing_to_compact' })).toMatchObject({ outcome: 'stopped' });
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ reason: 'nothing_to_compact', tookMessages: true });
  });
});

test.each<[waiting: string, meant: boolean]>([
  ['', false],
  ['message', false],
  ['stop', false],
  ['stop stop', false],
  // Something waited before it.
  ['message stop', true],
  ['resume stop', true],
  ['compact stop', true],
  ['switch stop', true],
  // A fork with the message that is answered behind it.
  ['fork message stop', true],
  // Before it was what is over.
  ['stop message', false],
  ['stop resume', false],
  ['stop compact', false],
  ['stop fork message', false],
  ['stop switch', false],
  // The user goes on.
  ['message stop message', false],
  ['message stop resume', false],
  ['resume stop message', false],
  ['compact stop message', false],
  ['message stop compact message', false],
  ['message stop message stop', true],
  ['message stop stop', true],
  ['stop message stop', true],
  // Another command does not say so.
  ['message stop compact', true],
  ['resume stop compact', true],
  ['message compact stop compact', true],
  ['message stop fork', true],
  ['message stop switch', true],
  ['switch stop compact', true],
  // It does when there is nothing but the same command to stop.
  ['compact stop compact', false],
  ['compact stop compact stop', true],
])('of "%s" the stop is meant for the turn that begins: %s', (waiting, meant) => {
  expect(isStopMeant(waiting.split(' ').filter(Boolean) as MessageKind[])).toBe(meant);
});
