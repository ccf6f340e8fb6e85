import type { ApplicationFailure } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import { commitCompaction } from '../../src/activities/compaction/commit-compaction.ts';
import { compactContext } from '../../src/activities/compaction/compact-context.ts';
import type { ActivityDependencies } from '../../src/activities/runtime/dependencies.ts';
import { summarize } from '../../src/activities/compaction/summarize.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { createModelClients } from '../../src/models/model-clients.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { storePlan } from '../../src/store/compactions/compactions.ts';
import { newId } from '../../src/store/database/ids.ts';
import { listParts, registerPartAttempt } from '../../src/store/compactions/compaction-parts.ts';
import type { PartReference } from '../../src/store/compactions/compaction-parts.ts';
import type { Database } from '../../src/store/database/database.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { prose } from '../context/builders.ts';
import { NEW_ATTEMPT, compact, plan, planWithCut } from '../store/support/compaction-builders.ts';
import {
  answer,
  finishToolCall,
  headOf,
  send,
  startTurn,
  step,
  text,
  toolCall,
} from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { diskFull } from '../support/disk-full.ts';
import { startHttpServer } from '../support/http-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { cutOffWorker as cutOff } from './support/cut-off-worker.ts';
import { asked, fault, useStoreAndSimulator } from './support/store-and-simulator.ts';

let store: TestStore;
let sql: Database;
let simulator: Simulator;

useStoreAndSimulator((opened) => {
  ({ store, simulator } = opened);
  ({ sql } = store);
});

/** Asks with a transcript, from which secrets are left out. */
const TRANSCRIPT_POLICY = { ...DEFAULT_POLICY, summary: { ...DEFAULT_POLICY.summary, sharesPrefix: null } };

/** A pass inside a turn: what the turn was asked is read again once the summary came. */
async function plannedPart(
  said = 'hello',
  policy: CompactionPolicy = DEFAULT_POLICY,
  fromSequence = 1,
): Promise<PartReference> {
  const turn = await startTurn(sql, said, { snapshot: { policy } });
  await step(sql, turn, 1);
  await step(sql, turn, 2);
  const planned = planWithCut(4, { insideTurn: true });
  const parts = planned.parts.map((part) => Object.assign({}, part, { fromSequence }));
  const { compaction } = await plan(sql, turn, { ...planned, parts });
  return { turn, compactionId: compaction.compactionId, part: 1 };
}

async function rowOf({ compactionId }: PartReference) {
  const [row] = await sql<{ attempt: number; failures: number; unreported: number; state: string; lost: number }[]>`
    select p.state, coalesce(max(m.attempt), 0) as attempt,
      (count(*) filter (where m.failure_kind in ('retryable', 'permanent')))::int as failures,
      (count(*) filter (where m.state = 'registered'))::int as unreported,
      (count(*) filter (where m.failure_kind = 'lost'))::int as lost
    from compaction_parts p left join model_attempts m on m.compaction_id = p.compaction_id and m.part = p.number
    where p.compaction_id = ${compactionId} group by p.compaction_id, p.number`;
  return row;
}

function cutOffWorker(simulatorUrl: string) {
  return cutOff(store.url, (database) => activityDependencies(database, { simulatorUrl }));
}

test('a summary that came while Postgres was away is kept, completed and stored once it is back, and not bought again', async () => {
  const part = await plannedPart();
  const before = await asked(simulator);
  const { proxy, dependencies, waits } = await cutOffWorker(simulator.url);
  const reachCrashPoint = (point: string): void => {
    if (point === 'answered') void proxy.reset();
  };
  const summarizing = summarize({ ...dependencies, reachCrashPoint }, part, execution());
  await Promise.race([summarizing, waitUntil('the answer waits', () => waits.length >= 2)]);
  await proxy.mend();
  expect(await summarizing).toMatchObject({ kind: 'summarized' });
  expect((await asked(simulator)) - before).toBe(1);
  expect(await rowOf(part)).toEqual({ attempt: 1, failures: 0, unreported: 0, state: 'written', lost: 0 });
});

test('a failure of the model that Postgres cannot take yet still counts toward the retries', async () => {
  const part = await plannedPart();
  const cut: { now?: () => void } = {};
  const server = await startHttpServer((_, response) => {
    cut.now?.();
    response.writeHead(500).end('{"error":{"message":"broken"}}');
  });
  onTestFinished(() => server.close());
  const { proxy, dependencies, waits } = await cutOffWorker(server.url);
  cut.now = () => void proxy.reset();
  const failed = expect(summarize(dependencies, part, execution())).rejects.toMatchObject({ type: 'Summary.refused' });
  await Promise.race([failed, waitUntil('the failure waits', () => waits.length >= 2)]);
  await proxy.mend();
  await failed;
  expect(await rowOf(part)).toMatchObject({ attempt: 1, failures: 1, unreported: 0 });
});

test.each([
  ['input', TRANSCRIPT_POLICY],
  ['output', DEFAULT_POLICY],
] as const)(
  'R28 secrets that were left out of the %s are told once, however many tries the summary took',
  async (_, policy) => {
    const part = await plannedPart('Deploy with ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8', policy);
    const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
    const reachCrashPoint = (point: string): void => {
      if (point === 'answered') throw new Error('the worker died');
    };
    await expect(summarize({ ...dependencies, reachCrashPoint }, part, execution())).rejects.toThrow('died');
    const full = await diskFull(sql, 'update of text on compaction_parts');
    const summarizing = summarize(dependencies, part, execution({ attempt: 2 }));
    await Promise.race([summarizing, waitUntil('the text is refused', async () => (await full.refusals()) >= 2)]);
    await full.end();
    await summarizing;
    const events = await listEvents(sql, { conversationId: part.turn.conversationId });
    const { compactionId } = part;
    expect(events.filter(({ kind }) => kind === 'secrets_redacted').map(({ data }) => data)).toEqual([
      { compactionId, part: 1, count: 1 },
    ]);
    expect((await listParts(sql, compactionId))[0]?.text).not.toContain('ghp_');
  },
);

test.each([
  ['R28 what is kept from the originals', 1],
  ['R28 what the user asked before the originals is told to the model, and', 2],
])('%s does not tell the password of a connection string', async (_, fromSequence) => {
  // Who summarizes a transcript never saw it, and cannot name it himself.
  const said = 'Look at postgres://admin:hunter2pw@db.example.com:5432/orders for TICKET-4711';
  const part = await plannedPart(said, TRANSCRIPT_POLICY, fromSequence);
  await summarize(activityDependencies(sql, { simulatorUrl: simulator.url }), part, execution());
  const written = (await listParts(sql, part.compactionId))[0]?.text;
  expect(written).toContain('TICKET-4711');
  expect(written).not.toContain('hunter2pw');
});

test('R28 the summarizing model is told no secret of the earlier summary, of the focus and of the lines of hooks', async () => {
  const secret = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
  const turn = await startTurn(sql, 'hello', { snapshot: { policy: TRANSCRIPT_POLICY } });
  await step(sql, turn, 1);
  await compact(sql, turn, planWithCut(2), { text: `EARLIER ${secret}` });
  await step(sql, turn, 2);
  await send(sql, { conversationId: turn.conversationId, kind: 'compact', focus: `FOCUS ${secret}` });
  const { compaction } = await storePlan(sql, {
    turn,
    callNumber: 3,
    compactionId: newId(),
    plan: planWithCut(4),
    reason: 'manual',
    preset: 'default',
    headEntryId: await headOf(sql, turn.conversationId),
    hook: { contextLines: { prepend: [`BEFORE ${secret}`], append: [`AFTER ${secret}`] }, summary: null },
  });
  const server = await startHttpServer((_, response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"type":"error","error":{"message":"no"}}'),
  );
  onTestFinished(() => server.close());
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  await summarize(dependencies, { turn, compactionId: compaction.compactionId, part: 1 }, execution());
  const request = server.requests[0]?.text ?? '';
  const places = ['EARLIER', 'FOCUS', 'BEFORE', 'AFTER'];
  expect(places.filter((place) => request.includes(`${place} [redacted: `))).toEqual(places);
  expect(request).not.toContain(secret);
});

test('a worker that dies while it waits for leave to call the provider counts as no try', async () => {
  const part = await plannedPart();
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  const modelPermits: ActivityDependencies['modelPermits'] = {
    ...dependencies.modelPermits,
    acquire: () => Promise.reject(new Error('the worker died')),
  };
  await expect(summarize({ ...dependencies, modelPermits }, part, execution())).rejects.toThrow('died');
  expect(await rowOf(part)).toMatchObject({ attempt: 0, unreported: 0 });
});

test('after five tries that told nothing a part is not bought again: the weaker form takes over', async () => {
  const part = await plannedPart();
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  for (let dead = 1; dead <= 5; dead += 1) await registerPartAttempt(sql, part, NEW_ATTEMPT);
  const before = await asked(simulator);
  expect(await summarize(dependencies, part, execution({ attempt: 6 }))).toEqual({ kind: 'failed' });
  expect(await rowOf(part)).toMatchObject({ state: 'failed', failures: 1 });
  // Its worker died right behind that: what failed for good is not asked for again.
  expect(await summarize(dependencies, part, execution({ attempt: 7 }))).toEqual({ kind: 'failed' });
  expect(await asked(simulator)).toBe(before);
  expect(await rowOf(part)).toMatchObject({ failures: 1 });
});

test('a summary that its worker cannot ask for costs nothing, and counts toward the retries', async () => {
  const part = await plannedPart();
  const dependencies = activityDependencies(sql);
  const lacking = { ...dependencies, modelClient: createModelClients([]) };
  await expect(summarize(lacking, part, execution())).rejects.toMatchObject({ type: 'Summary.refused' });
  expect(await rowOf(part)).toMatchObject({ failures: 1, unreported: 0, lost: 0 });
});

test('a paid summary that cannot be stored counts as paid and toward the retries', async () => {
  const part = await plannedPart();
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  const broken = await diskFull(sql, 'update of text on compaction_parts', '22000');
  const summarizing = summarize(dependencies, part, execution());
  await expect(summarizing).rejects.toMatchObject({ type: 'Summary.refused' });
  await broken.end();
  expect(await rowOf(part)).toMatchObject({ failures: 1, unreported: 0 });
  const { usage } = await getTurn(sql, part.turn.turnId);
  expect(usage.modelCalls).toBe(3);
});

test('a turn that has reached its limit pays for no summary', async () => {
  const part = await plannedPart();
  const limits = { turn: { inputTokens: 1 }, conversation: {}, noteAt: 0.8 };
  await sql`update turns set limits = ${JSON.stringify(limits)}::text::json where id = ${part.turn.turnId}`;
  const before = await asked(simulator);
  const limited = await summarize(activityDependencies(sql, { simulatorUrl: simulator.url }), part, execution());
  expect(limited).toEqual({ kind: 'limit', reason: 'input_token_limit' });
  expect(await asked(simulator)).toBe(before);
});

test('a summary whose provider is not reached says for whom it waits, uses up no retry, and waits on', async () => {
  const part = await plannedPart();
  const dependencies = activityDependencies(sql, { simulatorUrl: 'http://127.0.0.1:1' });
  for (const seconds of [1, 2, 4])
    await expect(summarize(dependencies, part, execution())).rejects.toMatchObject({
      type: 'Waiting',
      nextRetryDelay: seconds * 1_000,
    });
  expect(await rowOf(part)).toMatchObject({ state: 'planned', failures: 0, unreported: 0 });
  const events = await listEvents(sql, { conversationId: part.turn.conversationId });
  const waits = events.filter(({ kind }) => kind === 'turn_waiting').map(({ data }) => data);
  expect(waits).toMatchObject([2_000, 4_000].map((delayMilliseconds) => ({ reason: 'outage', delayMilliseconds })));
});

test('R20 a summary without sections is refused and asked for again', async () => {
  const part = await plannedPart();
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  await fault(simulator, { kind: 'summary_without_sections', times: 1, match: { purpose: 'summary' } });
  await expect(summarize(dependencies, part, execution())).rejects.toMatchObject({ type: 'Summary.refused' });
  expect(await summarize(dependencies, part, execution({ attempt: 2 }))).toMatchObject({ kind: 'summarized' });
});

test('R19 an answer that calls a tool beside its text is no summary, also where the provider says that it ended', async () => {
  const part = await plannedPart();
  const content = [...text('## Goal\n- Say hello').content, toolCall(0, 'read_file', '{}')];
  const modelClient = () => ({ answer: async () => ({ content, stopReason: 'end' as const }) });
  const asking = summarize({ ...activityDependencies(sql), modelClient }, part, execution());
  await expect(asking).rejects.toThrow('summary refused: tool_call, failure 1');
});

test('R21 G18 W25 a summary that stays empty is asked for again after 1, 2, 4, 8 and 16 s, then the extractive form follows, and the event names it', async () => {
  const turn = await startTurn(sql);
  for (let call = 1; call <= 8; call += 1) {
    await answer(sql, turn, call, { calls: 1 });
    await finishToolCall(sql, turn, call, 0, text(prose(8_000, call)));
  }
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  await fault(simulator, { kind: 'summary_empty', times: null, match: { purpose: 'summary' } });
  onTestFinished(async () => void (await fetch(`${simulator.url}/control/faults`, { method: 'DELETE' })));
  const delays: unknown[] = [];
  const summarized = async (part: PartReference): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      const asking = summarize(dependencies, part, execution({ attempt }));
      const result = await asking.catch((error: unknown) => error as ApplicationFailure);
      if ('kind' in result) return;
      delays.push(result.nextRetryDelay);
    }
  };
  const check = { turn, callNumber: 9, forced: 'overflow' } as const;
  const checked = await compactContext(dependencies, check, execution());
  if (checked.kind !== 'planned') throw new Error(`not planned: ${checked.kind}`);
  for (let { planned } = checked; ;) {
    const { compactionId } = planned;
    for (const { number } of planned.waves.flat()) await summarized({ turn, compactionId, part: number });
    const committed = await commitCompaction(dependencies, { turn, compactionId });
    if (committed.kind !== 'planned') break;
    ({ planned } = committed);
  }
  expect(delays.slice(0, 5)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  const committed = await sql`
    select form from compactions where conversation_id = ${turn.conversationId} and status = 'committed'`;
  expect(committed).toEqual([{ form: 'extractive_summary' }]);
  const events = await listEvents(sql, { conversationId: turn.conversationId });
  expect(events.find(({ kind }) => kind === 'compaction_form_failed')?.data).toMatchObject({
    failure: 'summary_failed',
  });
});
