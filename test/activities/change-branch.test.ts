import { expect, onTestFinished, test } from 'vitest';
import { summarize } from '../../src/activities/compaction/summarize.ts';
import type { Execution } from '../../src/activities/runtime/activity.ts';
import type { ActivityDependencies } from '../../src/activities/runtime/dependencies.ts';
import { changeBranch } from '../../src/activities/turn/change-branch.ts';
import { budgetFor } from '../../src/context/policy/budget.ts';
import { NO_CALIBRATION, estimateTokens } from '../../src/context/log/estimate.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { createModelClients } from '../../src/models/model-clients.ts';
import { registerPartAttempt } from '../../src/store/compactions/compaction-parts.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { newId } from '../../src/store/database/ids.ts';
import { acceptMessage } from '../../src/store/messages/messages.ts';
import type { BranchTarget } from '../../src/store/messages/messages.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import type { SpendingLimits } from '../../src/turn/spending.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { command } from '../store/support/branch-builders.ts';
import { NEW_ATTEMPT } from '../store/support/compaction-builders.ts';
import {
  SNAPSHOT,
  answer,
  closeToolCall,
  continueConversation,
  send,
  useTestStore,
  startTurn,
  text,
} from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { SECRETS_IN_PLACE, toldOfSecrets } from './support/secrets.ts';

const { sql, owner } = useTestStore();

/** A turn that is to leave a branch, with a summary of it. */
async function turnToFork(said = 'Count the pumps', answers: readonly string[] = ['Twelve.']): Promise<TurnReference> {
  const first = await startTurn(sql, said);
  for (const [index, each] of answers.entries()) await answer(sql, first, index + 1, { said: each });
  await endTurn(sql, { turn: first, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  const { conversationId } = first;
  const target = { entryId: null, summarizes: true };
  const command = {
    id: newId(),
    conversationId,
    kind: 'fork',
    content: [],
    measurements: NO_MEASUREMENTS,
    target,
  } as const;
  await acceptMessage(sql, command);
  return continueConversation(sql, conversationId);
}

/** Plans the summary of the branch that the turn leaves. */
async function plan(dependencies: ActivityDependencies, turn: TurnReference) {
  const change = await changeBranch(dependencies, { turn });
  if (change.kind !== 'planned') throw new Error(`the change is ${change.kind}`);
  return { turn, compactionId: change.planned.compactionId, part: 1 };
}

/** As the workflow does. */
async function leave(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  overrides: Partial<Execution> = {},
): Promise<void> {
  const change = await changeBranch(dependencies, { turn });
  if (change.kind === 'changed') return;
  await summarize(dependencies, await plan(dependencies, turn), execution(overrides));
  expect(await changeBranch(dependencies, { turn, isSummarized: true })).toEqual({ kind: 'changed' });
}

test('only failures of the model use up the five retries of a branch summary: deaths of workers do not, and the sixth failure does without a model', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(500).end('{"error":{"message":"broken"}}'));
  onTestFinished(() => server.close());
  const turn = await turnToFork();
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  // Temporal counts the attempts of the dead workers too.
  const part = await plan(dependencies, turn);
  for (let dead = 1; dead <= 4; dead += 1) await registerPartAttempt(sql, part, NEW_ATTEMPT);
  for (let failure = 1; failure <= 5; failure += 1) {
    const trying = leave(dependencies, turn, { attempt: 4 + failure });
    await expect(trying).rejects.toMatchObject({ type: 'Summary.refused' });
  }
  await leave(dependencies, turn, { attempt: 12 });
  expect(server.requests).toHaveLength(6);
  expect(await sql`select model from branch_summaries where conversation_id = ${turn.conversationId}`).toEqual([
    { model: null },
  ]);
});

test('after five tries that told nothing a branch summary is made without a model, which is not asked again', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(500).end());
  onTestFinished(() => server.close());
  const turn = await turnToFork();
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  const part = await plan(dependencies, turn);
  for (let dead = 1; dead <= 5; dead += 1) await registerPartAttempt(sql, part, NEW_ATTEMPT);
  await leave(dependencies, turn, { attempt: 11 });
  expect(server.requests).toHaveLength(0);
});

test('a conversation that has reached its limit pays for no summary of a branch: it is made without a model', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(500).end());
  onTestFinished(() => server.close());
  const turn = await turnToFork();
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  const limit = async ({ turnId }: TurnReference, to: SpendingLimits) =>
    owner`update turns set limits = ${JSON.stringify(to)}::text::json where id = ${turnId}`;
  const limits = { turn: {}, conversation: { steps: 1, idleTime: 0.000_001 }, noteAt: 0.8 };
  await limit(turn, limits);
  await leave(dependencies, turn);
  expect(server.requests).toHaveLength(0);
  const another = await turnToFork();
  const roomy = { ...limits, conversation: { ...limits.conversation, steps: 2 } };
  // It rested for longer than it may, which is nothing to a branch: the model is asked.
  await limit(another, roomy);
  await expect(leave(dependencies, another)).rejects.toMatchObject({ type: 'Summary.refused' });
});

test('a branch summary that no worker can ask for is unpaid, and made without a model after five retries', async () => {
  const turn = await turnToFork();
  const dependencies = { ...activityDependencies(sql), modelClient: createModelClients([]) };
  for (let attempt = 1; attempt <= 5; attempt += 1)
    await expect(leave(dependencies, turn, { attempt })).rejects.toMatchObject({ type: 'Summary.refused' });
  await leave(dependencies, turn, { attempt: 6 });
  expect((await getTurn(sql, turn.turnId)).usage.modelCalls).toBe(0);
});

/** Refuses for good: the summary is made without a model, of what the request was made from. */
async function refusingServer() {
  const server = await startHttpServer((_, response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"type":"error","error":{"message":"no"}}'),
  );
  onTestFinished(() => server.close());
  return server;
}

test('R28 neither the request for a branch summary nor the summary has a secret of what is left, and the timeline tells', async () => {
  const server = await refusingServer();
  const secret = 'AKIAQ3EGMF7YTUVW2XZ4';
  const turn = await turnToFork(`Deploy with ${secret} to region north`, [`I deploy with ${secret}.`]);
  await leave(activityDependencies(sql, { simulatorUrl: server.url }), turn);
  const [request] = server.requests;
  expect(request?.text).toContain('Deploy with [redacted: aws] to region north');
  expect(request?.text).not.toContain(secret);
  const { conversationId } = turn;
  const [summary] = await sql<{ text: string }[]>`
    select content::text as text from entries where conversation_id = ${conversationId} and kind = 'branch_summary'`;
  expect(summary?.text).toContain('[redacted: aws] to region north');
  expect(summary?.text).not.toContain(secret);
  const told = await sql`
    select from events
    where conversation_id = ${conversationId} and kind = 'secrets_redacted' and (data ->> 'count')::int > 0`;
  expect(told).toHaveLength(1);
});

test('R28 a branch summary has no part of a secret that it cuts', async () => {
  const server = await refusingServer();
  for (const { written } of SECRETS_IN_PLACE) {
    // Requests are cut behind 600 characters, the last answer behind 1,000.
    for (const at of [4, 12, 20, 28, written.length - 1]) {
      const turn = await turnToFork(`${'x '.repeat(300).slice(at)} ${written} and then go on`, [
        'ok',
        `${'y '.repeat(500).slice(at)} ${written} and then go on`,
      ]);
      await leave(activityDependencies(sql, { simulatorUrl: server.url }), turn);
      const [summary] = await sql<{ text: string }[]>`
        select content::text as text from entries
        where conversation_id = ${turn.conversationId} and kind = 'branch_summary'`;
      expect(summary?.text).toContain('x x x');
      expect(toldOfSecrets(summary?.text ?? '')).toEqual([]);
    }
  }
  expect(toldOfSecrets(server.requests.map(({ text }) => text).join('\n'))).toEqual([]);
});

test('P22 P24 a branch summary has a budget of its own: the newest that the window holds besides 2,048 tokens of answer', async () => {
  const server = await refusingServer();
  const answers = Array.from({ length: 60 }, (_, index) => `answer ${index}: ${'pumps open at noon '.repeat(210)}`);
  const turn = await turnToFork('Count the pumps', answers);
  await leave(activityDependencies(sql, { simulatorUrl: server.url }), turn);
  const body = server.requests[0]?.body as {
    max_tokens: number;
    system: unknown;
    messages: { content: { text: string }[] }[];
  };
  expect(body.max_tokens).toBe(2_048);
  const { policy, summarizer } = SNAPSHOT;
  const budget = budgetFor(policy, summarizer.limits).inputBudget;
  const text = body.messages.flatMap(({ content }) => content.map((part) => part.text)).join('');
  const tokens = estimateTokens(measureText(JSON.stringify(body.system) + text), NO_CALIBRATION);
  expect(tokens).toBeLessThanOrEqual(budget - 2_048);
  // Besides the prompts another of the answers has no place.
  expect(tokens).toBeGreaterThan(budget - 2_048 - 2_500);
  expect(text).toContain('answer 59:');
  expect(text).not.toContain('answer 0:');
});

test('P23 going back and forth where nothing was said asks no model and piles up no summaries; what is said anew is summarized', async () => {
  const server = await refusingServer();
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  const first = await turnToFork('Count the pumps', ['Twelve pumps.']);
  const { conversationId } = first;
  const left = async (turn: TurnReference): Promise<string[]> => {
    await leave(dependencies, turn);
    await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    return (await listEntries(sql, { conversationId })).map(({ kind }) => kind);
  };
  const go = async (target: BranchTarget): Promise<string[]> => {
    await command(sql, conversationId, target);
    return left(await continueConversation(sql, conversationId));
  };
  const say = async (said: string): Promise<void> => {
    await send(sql, { conversationId, ...text(said) });
    const turn = await continueConversation(sql, conversationId);
    await answer(sql, turn, 1);
    await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  };
  // Branch 1 begins before everything, with a summary of branch 0.
  expect(await left(first)).toEqual(['branch_summary']);
  // It holds nothing but that.
  expect(await go({ branch: 0, summarizes: true })).toEqual(['user', 'assistant']);
  // Branch 0 was told to branch 1 already.
  expect(await go({ branch: 1, summarizes: true })).toEqual(['branch_summary']);
  expect(server.requests).toHaveLength(1);
  await say('Count the valves');
  const back = ['user', 'assistant', 'branch_summary'];
  expect(await go({ branch: 0, summarizes: true })).toEqual(back);
  expect(server.requests).toHaveLength(2);
  // What branch 1 was told of branch 0 is no part of what branch 0 is told.
  expect(server.requests[1]?.text).toContain('Count the valves');
  expect(server.requests[1]?.text).not.toContain('Twelve pumps');
  expect(await go({ branch: 1, summarizes: true })).toEqual(['branch_summary', 'user', 'assistant']);
  expect(await go({ branch: 0, summarizes: true })).toEqual(back);
  expect(server.requests).toHaveLength(2);
  // A third branch: of branch 0 it has all; of branch 1 it is given what was written for branch 0.
  await go({ branch: 1, summarizes: false });
  const third = await go({ entryId: null, summarizes: true });
  expect(third).toEqual(['branch_summary']);
  expect(server.requests).toHaveLength(2);
  await go({ branch: 0, summarizes: false });
  await say('Count the pumps again');
  expect((await go({ branch: 1, summarizes: true })).at(-1)).toBe('branch_summary');
  expect(server.requests).toHaveLength(3);
});

test('a fork that was refused by an attempt whose result was lost is refused still, not told as done', async () => {
  const turn = await turnToFork();
  // As if a turn had begun behind it.
  await owner`update messages set sent_epoch = 0 where conversation_id = ${turn.conversationId} and consumed_at is null`;
  const dependencies = activityDependencies(sql);
  const refused = { kind: 'refused', reason: 'conversation_busy' };
  expect(await changeBranch(dependencies, { turn })).toEqual(refused);
  expect(await changeBranch(dependencies, { turn })).toEqual(refused);
  expect(await sql`select from events where turn_id = ${turn.turnId} and kind = 'branch_refused'`).toHaveLength(1);
});

test('a fork that was carried out by an attempt whose result was lost is told as done', async () => {
  const first = await startTurn(sql, 'Count the pumps');
  await endTurn(sql, { turn: first, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  await command(sql, first.conversationId, { entryId: null, summarizes: false });
  const turn = await continueConversation(sql, first.conversationId);
  const changed = { kind: 'changed' };
  expect(await changeBranch(activityDependencies(sql), { turn })).toEqual(changed);
  expect(await changeBranch(activityDependencies(sql), { turn })).toEqual(changed);
});
