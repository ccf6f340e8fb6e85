import { expect, test } from 'vitest';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import {
  decide,
  decideCoveredCalls,
  endStandingDecision,
  hasOverdueDecisions,
  listMadeDecisions,
  listStandingDecisions,
  listWaitingDecisions,
  readDecision,
  requestDecisions,
} from '../../src/store/messages/decisions.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { newId } from '../../src/store/database/ids.ts';
import { findWaitingConversations, noteRing } from '../../src/store/upkeep/upkeep.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { makeConversation } from './support/make-conversation.ts';
import {
  answer,
  closeToolCall,
  continueConversation,
  send,
  startTurn,
  useTestStore,
} from './support/store-builders.ts';

let sql: Database;
let url: string;
useTestStore((store) => ({ sql, url } = store));

const TENANT = 'default';
const RULE = { agent: 'reader', rule: 'write_file' };
const COVERED = { agent: RULE.agent, rules: [RULE.rule] };

/** Asks for a call of the turn, for a minute. */
function ask(turn: TurnReference, callIndex = 0, rules: readonly string[] = [RULE.rule]) {
  const wanted = [{ callIndex, kind: 'approval', tool: 'read_file', rules } as const];
  return requestDecisions(sql, { turn, callNumber: 1, agent: RULE.agent, expiresAfterSeconds: 60, wanted });
}

/** A turn whose first call waits. */
async function waitingTurn(calls = 1): Promise<TurnReference> {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls });
  await ask(turn);
  return turn;
}

function approval(turn: TurnReference, more: Partial<Parameters<typeof decide>[1]> = {}) {
  const { conversationId } = turn;
  return {
    conversationId,
    kind: 'approval',
    state: 'approved',
    scope: 'call',
    text: null,
    decisionId: newId(),
    ...more,
  } as const;
}

const FIRST = { turnNumber: 1, callNumber: 1, callIndex: 0 };

function decidedCall({ conversationId, turnId }: TurnReference) {
  return { conversationId, turnId, call: '1.1.0', decision: 'denied', text: 'never' };
}

async function stateOf(turn: TurnReference, callIndex = 0) {
  return (await readDecision(sql, { turnId: turn.turnId, callNumber: 1, callIndex }))?.state;
}

/** The same database an hour later. */
async function later<Result>(work: (moved: Database) => Promise<Result>): Promise<Result> {
  const moved = connectDatabase({ url: `${url}%20-c%20holdfast.clock_offset%3D1h`, maximumConnections: 1 });
  try {
    return await work(moved);
  } finally {
    await moved.end();
  }
}

test('a decision after its time is refused though nobody has marked the call as expired, also by one for the turn or the agent', async () => {
  const turn = await waitingTurn();
  const late = later((moved) => decide(moved, approval(turn)));
  await expect(late).rejects.toMatchObject({
    code: 'decision_stale',
    message: expect.stringMatching(/^call 1\.1\.0 \(read_file\) expired at \d{4}-.*: the decision came too late$/),
  });
  expect(await stateOf(turn)).toBe('waiting');
  const other = await waitingTurn();
  await decide(sql, approval(other, { scope: 'agent' }));
  expect(await later((moved) => decideCoveredCalls(moved, COVERED))).toEqual([]);
  expect(await stateOf(turn)).toBe('waiting');
  await endStanding();
  await decide(sql, approval(turn));
});

test('a name holds for its turn alone: of an ended turn it is stale, of no turn or no call nothing is found', async () => {
  const first = await waitingTurn();
  await endTurn(sql, { turn: first, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
  const { conversationId } = first;
  await send(sql, { conversationId });
  const second = await continueConversation(sql, conversationId);
  await answer(sql, second, 1, { calls: 1 });
  await ask(second);
  expect(await listWaitingDecisions(sql, conversationId)).toMatchObject([{ call: '2.1.0' }]);
  for (const callIndex of [0, 7])
    await expect(decide(sql, approval(second, { call: { ...FIRST, callIndex } }))).rejects.toMatchObject({
      code: 'decision_stale',
      message: expect.stringContaining('belongs to turn 1, which has ended (stopped)'),
    });
  for (const call of [
    { ...FIRST, turnNumber: 2, callIndex: 7 },
    { ...FIRST, turnNumber: 3 },
  ])
    await expect(decide(sql, approval(second, { call }))).rejects.toMatchObject({ code: 'decision_not_found' });
  expect(await stateOf(second)).toBe('waiting');
  const call = { ...FIRST, turnNumber: 2 };
  expect(await decide(sql, approval(second, { call }))).toMatchObject({ turnId: second.turnId, call, decided: 1 });
});

test('what a decision for the agent did not reach, because who made it died, is decided by upkeep or when the turn looks again', async () => {
  const [decided, found, looking, without] = [
    await waitingTurn(),
    await waitingTurn(),
    await waitingTurn(),
    await waitingTurn(),
  ];
  const denial = approval(decided, { state: 'denied', scope: 'agent', text: 'never', decidedBy: 'ada' });
  expect(await decide(sql, denial)).toMatchObject({ ...COVERED, decided: 1 });
  expect(await ask(looking)).toMatchObject({ waiting: 0 });
  const { conversationId } = looking;
  expect((await listEvents(sql, { conversationId })).at(-1)).toMatchObject({
    kind: 'decision_made',
    data: { turn: 1, callNumber: 1, callIndex: 0, decision: 'denied', scope: 'standing' },
  });
  const rung = await decideCoveredCalls(sql, { taskQueue: 'agent-turn' });
  expect(rung.map((one) => one.conversationId).toSorted()).toEqual(
    [found.conversationId, without.conversationId].toSorted(),
  );
  expect(await decideCoveredCalls(sql, { taskQueue: 'agent-turn' })).toEqual([]);
  for (const turn of [found, looking])
    expect(await readDecision(sql, { turnId: turn.turnId, callNumber: 1, callIndex: 0 })).toMatchObject({
      state: 'denied',
      text: 'never',
    });
  const made = await listMadeDecisions(sql, { tenant: TENANT, limit: 4 });
  expect(made.at(-1)).toMatchObject({ ...decidedCall(decided), scope: 'agent', decidedBy: 'ada', covered: false });
  for (const turn of [found, looking, without])
    expect(made).toContainEqual(
      expect.objectContaining({ ...decidedCall(turn), scope: 'call', decidedBy: null, covered: true }),
    );
  await endStanding();
});

test('decisions for an agent from several conversations at once leave nothing waiting and never wait for each other', async () => {
  const turns = [];
  for (let count = 0; count < 6; count += 1) turns.push(await waitingTurn());
  const made = await Promise.allSettled(
    turns.map(async (turn) => {
      await decide(sql, approval(turn, { scope: 'agent', call: FIRST }));
      return decideCoveredCalls(sql, COVERED);
    }),
  );
  for (const one of made) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'decision_stale' });
  for (const turn of turns) expect(await stateOf(turn)).toBe('approved');
  await endStanding();
});

test('a decision for the agent holds for the conversations of its tenant alone', async () => {
  const conversationId = newId();
  await makeConversation(sql, conversationId, { tenant: 'other' });
  await send(sql, { conversationId });
  const ofOther = await continueConversation(sql, conversationId);
  await answer(sql, ofOther, 1, { calls: 1 });
  await decide(sql, approval(await waitingTurn(), { scope: 'agent' }));
  expect(await ask(ofOther)).toMatchObject({ waiting: 1 });
  await decideCoveredCalls(sql, COVERED);
  expect(await stateOf(ofOther)).toBe('waiting');
  expect(await listStandingDecisions(sql, 'other')).toEqual([]);
  await endStanding();
});

/** Ends what stands for the agent. */
async function endStanding(): Promise<void> {
  for (const { agent, rule } of await listStandingDecisions(sql, TENANT))
    await endStandingDecision(sql, { tenant: TENANT, agent, rule });
}

/** The state of a call of a new turn that falls under these rules. */
async function stateUnder(rules: readonly string[]) {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls: 1 });
  await ask(turn, 0, rules);
  return stateOf(turn);
}

test('a call under several rules runs unasked only when an approval stands for each; a denial of one suffices', async () => {
  const loose = await startTurn(sql);
  await answer(sql, loose, 1, { calls: 3 });
  await ask(loose, 0, ['loose']);
  await ask(loose, 1, ['loose', 'strict']);
  await ask(loose, 2, ['loose']);
  expect(await decide(sql, approval(loose, { call: FIRST, scope: 'agent' }))).toMatchObject({ decided: 2 });
  expect(await stateOf(loose, 1)).toBe('waiting');
  expect(await decideCoveredCalls(sql, { taskQueue: 'agent-turn' })).toEqual([]);
  expect(await stateUnder(['loose'])).toBe('approved');
  expect(await stateUnder(['loose', 'strict'])).toBe('waiting');
  // What stands for all of them covers the call that waited, and each rule by itself.
  expect(await decide(sql, approval(loose, { scope: 'agent' }))).toMatchObject({ rules: ['loose', 'strict'] });
  expect(await stateUnder(['strict', 'loose'])).toBe('approved');
  expect(await stateUnder(['strict', 'loose', 'other'])).toBe('waiting');
  const denied = await startTurn(sql);
  await answer(sql, denied, 1, { calls: 4 });
  await ask(denied, 0, ['third']);
  await decide(sql, approval(denied, { state: 'denied', scope: 'agent', text: 'never' }));
  expect(await stateUnder(['loose', 'third'])).toBe('denied');
  await ask(denied, 1, ['fourth']);
  await decide(sql, approval(denied, { state: 'denied', scope: 'agent', text: 'not now' }));
  // The newest denial says why, wherever its rule stands.
  for (const [callIndex, rules] of [
    [2, ['third', 'fourth']],
    [3, ['fourth', 'third']],
  ] as const) {
    await ask(denied, callIndex, [...rules]);
    const decision = await readDecision(sql, { turnId: denied.turnId, callNumber: 1, callIndex });
    expect(decision).toMatchObject({ state: 'denied', text: 'not now' });
  }
  await endStanding();
});

test('a decision for the turn covers the rules of its call alone, and the newest of a rule counts', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls: 4 });
  await ask(turn, 0, ['loose']);
  await decide(sql, approval(turn, { scope: 'turn' }));
  await ask(turn, 1, ['loose', 'strict']);
  expect(await stateOf(turn, 1)).toBe('waiting');
  await decide(sql, approval(turn, { scope: 'turn', state: 'denied', text: 'no more' }));
  await ask(turn, 2, ['loose']);
  expect(await readDecision(sql, { turnId: turn.turnId, callNumber: 1, callIndex: 2 })).toMatchObject({
    state: 'denied',
    text: 'no more',
  });
});

test('an id stands for one decision: on another call, with another reach or reason it is refused', async () => {
  const turn = await waitingTurn(2);
  await ask(turn, 1);
  const first = approval(turn, { call: FIRST, text: 'fine', decisionId: 'the same' });
  expect(await decide(sql, first)).toMatchObject({ duplicate: false });
  expect(await decide(sql, first)).toMatchObject({ duplicate: true, decided: 0 });
  const others = [
    { call: { ...FIRST, callIndex: 1 } },
    { scope: 'agent' },
    { text: 'good' },
    { state: 'denied' },
  ] as const;
  for (const other of others)
    await expect(decide(sql, { ...first, ...other })).rejects.toMatchObject({
      code: 'decision_id_reused',
      message: expect.stringMatching(/^decision id the same stands for another decision: by it call 1\.1\.0 /),
    });
  expect(await stateOf(turn, 1)).toBe('waiting');
  expect(await listStandingDecisions(sql, TENANT)).toEqual([]);
});

test('a call whose time is over is rung for less and less often, though its turn has not noticed', async () => {
  const turn = await waitingTurn();
  const { conversationId } = turn;
  const isFound = async (moved: Database) => {
    const found = await findWaitingConversations(moved, { taskQueue: 'agent-turn', olderThanSeconds: 5, limit: 1_000 });
    return found.some((one) => one.conversationId === conversationId);
  };
  expect([await hasOverdueDecisions(sql, conversationId), await isFound(sql)]).toEqual([false, false]);
  await later(async (moved) => {
    expect([await hasOverdueDecisions(moved, conversationId), await isFound(moved)]).toEqual([true, true]);
    await noteRing(moved, conversationId);
    expect(await isFound(moved)).toBe(false);
  });
});
