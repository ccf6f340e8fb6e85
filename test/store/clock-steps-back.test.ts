import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WOLFFISH_POLICY } from '../../src/context/policy/presets/wolffish.ts';
import type { Database } from '../../src/store/database/database.ts';
import { decide, requestDecisions } from '../../src/store/messages/decisions.ts';
import { deleteConversation } from '../../src/store/conversations/delete-conversation.ts';
import { readNewestFlush } from '../../src/store/compactions/compaction-parts.ts';
import { newId } from '../../src/store/database/ids.ts';
import { claimPermit, giveUpPermit, releasePermit } from '../../src/store/providers/permits.ts';
import { findStanding } from '../../src/store/messages/standing-decisions.ts';
import { readSpending } from '../../src/store/turns/turn-limits.ts';
import { findOpenTurns, findWaitingConversations, noteLooks, noteRing } from '../../src/store/upkeep/upkeep.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { verify } from '../../src/verify/verify.ts';
import { command, go } from './support/branch-builders.ts';
import { plan, planWithCut, turnWithSteps } from './support/compaction-builders.ts';
import { exported, importLines } from './support/conversation-files.ts';
import { openMovedClock } from './support/moved-clock.ts';
import type { MovedClock } from './support/moved-clock.ts';
import {
  answer,
  begin,
  continueConversation,
  endedAs,
  send,
  startTurn,
  useTestStore,
} from './support/store-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';

const DAY_SECONDS = 86_400;

/** The clock before it is set right, two days ahead, and after. */
let clock: MovedClock;
let fast: Database;
let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});
beforeAll(async () => {
  clock = openMovedClock(url);
  fast = clock.sql;
  await clock.set(2 * DAY_SECONDS);
});
afterAll(() => clock.close());

/** A turn that was answered and has ended, all of it by the fast clock. */
async function endedTurn(): Promise<TurnReference> {
  const turn = await startTurn(fast);
  await answer(fast, turn, 1);
  await endedAs(fast, turn);
  return turn;
}

const FORK = { entryId: null, summarizes: false };

describe('when the clock of the database steps back, a change of branch', () => {
  it('is carried out behind a turn that began before the step', async () => {
    const { conversationId } = await endedTurn();
    expect(await go(sql, conversationId, FORK)).toMatchObject({ ancestorSequence: 0 });
  });

  it('is carried out in a conversation that was brought from a machine whose clock is fast', async () => {
    const { conversationId } = await endedTurn();
    const lines = await exported(sql, conversationId);
    await deleteConversation(sql, conversationId);
    await importLines(sql, lines);
    expect(await go(sql, conversationId, FORK)).toMatchObject({ ancestorSequence: 0 });
  });

  it('that was asked for before the step is over with its turn, which was stopped', async () => {
    const { conversationId } = await endedTurn();
    await command(fast, conversationId, FORK);
    await endedAs(sql, await continueConversation(sql, conversationId), { outcome: 'stopped' });
    expect(await countWaiting(sql, conversationId)).toMatchObject({ waiting: 0 });
  });
});

describe('when the clock of the database steps back, a stop', () => {
  it('that met its turn is no breach when what is sent later is answered', async () => {
    const turn = await startTurn(fast);
    const { conversationId } = turn;
    await send(fast, { conversationId, kind: 'stop' });
    await endedAs(fast, turn, { outcome: 'stopped' });
    await send(sql, { conversationId });
    await endedAs(fast, await continueConversation(sql, conversationId));
    await send(sql, { conversationId, kind: 'stop' });
    expect(await begin(sql, conversationId)).toEqual({ kind: 'nothing_waiting' });
    const { invariants } = await verify(sql, { conversationId });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  });
});

describe('when the clock of the database steps back, limits of time', () => {
  it('get nothing back of the turn that was open', async () => {
    const turn = await startTurn(fast);
    const { conversationId } = turn;
    const limits = { turn: {}, conversation: { wallTime: 3_600 }, noteAt: 0.8 };
    const used = async () => (await readSpending(sql, turn, limits)).conversation.wallTime;
    expect(await used()).toBe(0);
    await endedAs(sql, turn);
    expect(await used()).toBe(0);
    const { invariants } = await verify(sql, { conversationId });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  });

  it('count how long the conversation rested from its newest answer on, not from an older one of an earlier time', async () => {
    const first = await startTurn(sql);
    const { conversationId } = first;
    await answer(sql, first, 1);
    await sql`update model_attempts set ended_at = ended_at - interval '1 hour', started_at = started_at - interval '1 hour' where turn_id = ${first.turnId}`;
    await endedAs(sql, first);
    await send(fast, { conversationId });
    const second = await continueConversation(fast, conversationId);
    await answer(fast, second, 1);
    await endedAs(fast, second);
    await send(sql, { conversationId });
    const third = await continueConversation(sql, conversationId);
    const limits = { turn: {}, conversation: { idleTime: 600 }, noteAt: 0.8 };
    expect((await readSpending(sql, third, limits)).conversation.idleTime).toBe(0);
  });
});

describe('when the clock of the database steps back, upkeep', () => {
  const waiting = async (): Promise<string[]> =>
    (await findWaitingConversations(sql, { taskQueue: 'agent-turn', olderThanSeconds: 5, limit: 1_000 })).map(
      (row) => row.conversationId,
    );

  it('finds rows that nobody rang for, and those that were rung for before the step', async () => {
    const conversationId = newId();
    await send(fast, { conversationId });
    expect(await waiting()).toContain(conversationId);
    await clock.set(2 * DAY_SECONDS + 10);
    await noteRing(fast, conversationId);
    await clock.set(2 * DAY_SECONDS);
    expect(await waiting()).toContain(conversationId);
    await noteRing(sql, conversationId);
    expect(await waiting()).not.toContain(conversationId);
  });

  it('finds calls that were decided on before the step', async () => {
    const turn = await startTurn(fast);
    const { conversationId } = turn;
    await answer(fast, turn, 1, { calls: 1 });
    await ask(fast, turn, 0, ['every call']);
    await decide(fast, approval(turn, 0));
    expect(await waiting()).toContain(conversationId);
    await noteRing(sql, conversationId);
    expect(await waiting()).not.toContain(conversationId);
  });

  it('looks at turns that began before the step, and again at those that it looked at before it', async () => {
    const turns = [await startTurn(fast), await startTurn(fast)].map(({ turnId }) => turnId);
    const found = async () =>
      (await findOpenTurns(sql, { taskQueue: 'agent-turn', olderThanSeconds: 60, limit: 1_000 }))
        .map(({ turn }) => turn.turnId)
        .filter((id) => turns.includes(id));
    expect(await found()).toEqual(turns);
    await noteLooks(fast, turns.slice(0, 1));
    await noteLooks(sql, turns.slice(1));
    expect(await found()).toEqual(turns);
  });
});

describe('when the clock of the database steps back,', () => {
  it('what a person decides stands against what was decided before the step', async () => {
    const turn = await startTurn(fast);
    await answer(fast, turn, 1, { calls: 2 });
    await ask(fast, turn, 0, ['write']);
    await decide(fast, approval(turn, 0));
    await ask(sql, turn, 1, ['write', 'delete']);
    await decide(sql, { ...approval(turn, 1), state: 'denied' });
    expect(await findStanding(sql, { turnId: turn.turnId, agent: 'reader', rules: ['write'] })).toMatchObject({
      state: 'denied',
    });
  });

  it('a conversation is not passed over for a permit that it had before the step', async () => {
    const providerKey = newId();
    const callOf = (conversationId: string) => {
      const by = { runId: 'run', activityId: newId(), attempt: 1 };
      return { providerKey, conversationId, callKey: newId(), by, tokens: 10 };
    };
    const one = { concurrentCalls: 1, tokensPerMinute: null };
    const none = { concurrentCalls: 0, tokensPerMinute: null };
    const before = callOf(newId());
    expect((await claimPermit(fast, before, one)).kind).toBe('granted');
    await releasePermit(fast, before);
    const [again, other] = [callOf(before.conversationId), callOf(newId())];
    for (const call of [again, other]) expect((await claimPermit(sql, call, none)).kind).toBe('queued');
    expect((await claimPermit(sql, other, one)).kind).toBe('queued');
    expect((await claimPermit(sql, again, one)).kind).toBe('granted');
    await giveUpPermit(sql, other);
  });

  it('a summary is flushed to memory again, whenever the last one was', async () => {
    const turn = await turnWithSteps(fast);
    const range = { fromSequence: 1, toSequence: 3, inputTokens: 500, maximumOutput: 200 };
    const parts = [
      { number: 1, wave: 1, kind: 'flush', ...range },
      { number: 2, wave: 1, kind: 'history', ...range },
    ] as const;
    const { compaction } = await plan(fast, turn, planWithCut(4, { parts }));
    await sql`
      update compaction_parts set state = 'written', text = '"noted"', prompt_version = '1'
      where compaction_id = ${compaction.compactionId} and kind = 'flush'`;
    expect(await readNewestFlush(fast, turn.conversationId)).toMatchObject({ tokens: 1_000 });
    expect(await readNewestFlush(sql, turn.conversationId)).toBeNull();
  });

  it('a turn sees the whole conversation behind one whose passes last for a turn', async () => {
    const first = await endedTurn();
    const { conversationId } = first;
    await send(sql, { conversationId });
    const second = await continueConversation(sql, conversationId, { snapshot: { policy: WOLFFISH_POLICY } });
    await sql`update conversations set compactions = 1 where id = ${conversationId}`;
    await endedAs(sql, second);
    await send(sql, { conversationId });
    await continueConversation(sql, conversationId);
    const [row] = await sql`select compactions_over from conversations where id = ${conversationId}`;
    expect(row?.['compactionsOver']).toBe(1);
  });
});

/** Asks for a call of the turn, for a week. */
function ask(queries: Database, turn: TurnReference, callIndex: number, rules: readonly string[]) {
  const wanted = [{ callIndex, kind: 'approval', tool: 'read_file', rules } as const];
  const request = { turn, callNumber: 1, agent: 'reader', expiresAfterSeconds: 7 * DAY_SECONDS, wanted };
  return requestDecisions(queries, request);
}

/** Of a call, for all of the turn that fall under its rules. */
function approval({ conversationId }: TurnReference, callIndex: number) {
  const call = { turnNumber: 1, callNumber: 1, callIndex };
  return {
    conversationId,
    kind: 'approval',
    state: 'approved',
    scope: 'turn',
    text: null,
    decisionId: newId(),
    call,
  } as const;
}
