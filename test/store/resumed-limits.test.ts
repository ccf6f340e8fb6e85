import { expect, test } from 'vitest';
import type { AgentSnapshot } from '../../src/turn/agent-snapshot.ts';
import type { SpendingLimits } from '../../src/turn/spending.ts';
import { begin, endedAs, send, startTurn, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

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
