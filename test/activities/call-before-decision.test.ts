import { z } from 'zod';
import { expect, test } from 'vitest';
import { closeToolCall, requestDecisions } from '../../src/activities/tool/decisions.ts';
import { runTool } from '../../src/activities/tool/run-tool.ts';
import type { Database } from '../../src/store/database/database.ts';
import { decide, readDecision } from '../../src/store/messages/decisions.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import {
  claimToolCall,
  listLateToolResults,
  readToolCall,
  storeToolResult,
} from '../../src/store/attempts/tool-calls.ts';
import { askUser } from '../../src/tools/builtin/conversation-tools.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { ToolDefinition, ToolEffect } from '../../src/tools/tool.ts';
import { toolSchema } from '../../src/tools/runtime/tool-input.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  answerWith,
  claimer,
  register,
  startTurn,
  text,
  toolCall,
  useTestStore,
} from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { CALL, toolResults, turnCalling } from './support/tool-calls.ts';

const KEY = 'key-of-a-provider-0123456789';
const closing = closeToolCall({ secrets: [KEY] });

const { sql } = useTestStore();

/** A tool that counts its runs. `asks` may be changed while a turn runs: as by a deploy, or by the hour. */
function toolThatAsks(effect: ToolEffect, asks: boolean) {
  const state = { asks, runs: 0 };
  const tool = defineTool({
    name: 'act',
    description: 'Acts.',
    input: z.object({}),
    effect,
    approval: () => state.asks,
    run: () => {
      state.runs += 1;
      return Promise.resolve({ content: 'ran' });
    },
  });
  return { tool, state };
}

const runAs = (tool: ToolDefinition, turn: TurnReference, attempt: number) =>
  runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution({ attempt }));

const outcomeOf = async (turn: TurnReference) => (await readToolCall(sql, { ...turn, ...CALL })).outcome;

const results = (turn: TurnReference): Promise<string[]> => toolResults(sql, turn);

/** Asks for the call and denies it. */
async function deny(tool: ToolDefinition, turn: TurnReference): Promise<void> {
  const dependencies = activityDependencies(sql, { tools: [tool] });
  expect(await requestDecisions(dependencies, { turn, callNumber: 1, runnable: 9 }, execution())).toMatchObject({
    waiting: 1,
  });
  const { conversationId } = turn;
  const denial = { kind: 'approval', state: 'denied', scope: 'call', text: 'no', decisionId: newId() } as const;
  await decide(sql, { conversationId, ...denial });
}

test.each<[ToolEffect]>([['once'], ['idempotent']])(
  'a call with the effect "%s" that began before its tool asked for approval may have acted: its outcome is unknown, and it is not run again',
  async (effect) => {
    const { tool, state } = toolThatAsks(effect, false);
    const turn = await turnCalling(sql, tool);
    await claimToolCall(sql, { turn, ...CALL, ...claimer('dead') });
    state.asks = true;
    expect(await runAs(tool, turn, 2)).toMatchObject({ state: 'outcome_unknown' });
    expect(await outcomeOf(turn)).toBe('outcome_unknown');
    expect(await results(turn)).toEqual([expect.stringMatching(/^Outcome unknown: /u)]);
    expect(state.runs).toBe(0);
  },
);

test('nobody is asked about a call that has begun', async () => {
  const { tool, state } = toolThatAsks('once', false);
  const turn = await turnCalling(sql, tool);
  await claimToolCall(sql, { turn, ...CALL, ...claimer('dead') });
  state.asks = true;
  const dependencies = activityDependencies(sql, { tools: [tool] });
  expect(await requestDecisions(dependencies, { turn, callNumber: 1, runnable: 9 }, execution())).toMatchObject({
    waiting: 0,
  });
  expect(await readDecision(sql, { turnId: turn.turnId, ...CALL })).toBeNull();
});

test('a denied call does not run, also when its tool no longer asks', async () => {
  const { tool, state } = toolThatAsks('once', true);
  const turn = await turnCalling(sql, tool);
  await deny(tool, turn);
  state.asks = false;
  await runAs(tool, turn, 1);
  expect([await outcomeOf(turn), state.runs]).toEqual(['not_run', 0]);
});

test('a denied call whose worker died before the refusal was stored is told as one that did not run, also by a stop', async () => {
  const { tool } = toolThatAsks('once', true);
  const turn = await turnCalling(sql, tool);
  await deny(tool, turn);
  await claimToolCall(sql, { turn, ...CALL, ...claimer('dead') });
  await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closing);
  expect(await outcomeOf(turn)).toBe('not_run');
  expect(await results(turn)).toEqual(['The user denied this call: it did not run. The reason: no']);
});

test.each<[string, boolean]>([
  ['whose worker died before the answer became its result', true],
  ['that was answered and never made', false],
])('the answer to a question %s reaches the model when the turn is stopped, keys masked', async (_, wasClaimed) => {
  const turn = await startTurn(sql, 'hello', { snapshot: { tools: [toolSchema(askUser)] } });
  const question = toolCall(0, 'ask_user', JSON.stringify({ question: 'Which one?' }));
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), [question]));
  const dependencies = activityDependencies(sql, { tools: [askUser] });
  await requestDecisions(dependencies, { turn, callNumber: 1, runnable: 9 }, execution());
  const reply = { kind: 'question', state: 'answered', scope: 'call', text: `the ${KEY} one` } as const;
  await decide(sql, { conversationId: turn.conversationId, ...reply, decisionId: newId() });
  if (wasClaimed) await claimToolCall(sql, { turn, ...CALL, ...claimer('dead') });
  await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closing);
  expect(await outcomeOf(turn)).toBe('succeeded');
  expect(await results(turn)).toEqual(['the [masked key] one']);
});

test('an unknown outcome that comes behind the result is none: the next try finds what the call came to', async () => {
  const { tool } = toolThatAsks('once', false);
  const turn = await turnCalling(sql, tool);
  await claimToolCall(sql, { turn, ...CALL, ...claimer('slow') });
  const late = { ...activityDependencies(sql, { tools: [tool] }), database: beforeUnknownOutcome(turn) };
  await expect(runTool(late, { turn, ...CALL }, execution({ attempt: 2 }))).rejects.toMatchObject({
    type: 'SupersededAttempt',
    nonRetryable: false,
  });
  expect(await runAs(tool, turn, 3)).toMatchObject({ state: 'succeeded' });
  expect(await results(turn)).toEqual(['done']);
  expect(await listLateToolResults(sql, [turn.turnId])).toEqual([]);
});

/** The database, where the first attempt stores its result in front of the transaction of another. */
function beforeUnknownOutcome(turn: TurnReference): Database {
  let isStored = false;
  return new Proxy(sql, {
    get(target, key, receiver) {
      const value: unknown = Reflect.get(target, key, receiver);
      if (key !== 'begin' || typeof value !== 'function') return value;
      return async (...given: unknown[]): Promise<unknown> => {
        const by = { attempt: 1, workerIdentity: 'slow' };
        const result = { ...by, entryId: newId(), outcome: 'succeeded', fingerprint: 'f1' } as const;
        if (!isStored) await storeToolResult(sql, { turn, ...CALL, ...text('done'), ...result });
        isStored = true;
        return Reflect.apply(value, target, given);
      };
    },
  });
}
