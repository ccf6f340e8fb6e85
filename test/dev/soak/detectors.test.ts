import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkJournal, findInterrupted } from '../../../dev/soak/check.ts';
import type { SoakConversation } from '../../../dev/soak/conversations.ts';
import { inventJob } from '../../../dev/soak/job.ts';
import { findLeft } from '../../../dev/soak/left.ts';
import { SeededRandom } from '../../../dev/random.ts';
import { checkReports } from '../../../dev/soak/reports.ts';
import { findSuspects, unexplained } from '../../../dev/soak/suspects.ts';
import type { Interval } from '../../../dev/soak/suspects.ts';
import { JOURNAL } from '../../../dev/soak/workers.ts';
import type { Job } from '../../../dev/demo/job.ts';
import { idempotencyKeyOf } from '../../../src/store/attempts/tool-call-rows.ts';
import { endTurn } from '../../../src/store/turns/end-turn.ts';
import { storeAnswer } from '../../../src/store/attempts/model-calls.ts';
import { claimToolCall } from '../../../src/store/attempts/tool-calls.ts';
import type { TurnOutcome, TurnReference } from '../../../src/turn/turn-reference.ts';
import {
  answerWith,
  claimer,
  closeToolCall,
  continueConversation,
  finishToolCall,
  FIRST_ATTEMPT,
  register,
  send,
  startTurn,
  text,
  toolCall,
  useTestStore,
} from '../../store/support/store-builders.ts';

const { sql } = useTestStore();
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'soak-detectors-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function turnThatCalls(...tools: string[]): Promise<TurnReference> {
  const turn = await startTurn(sql);
  const calls = tools.map((tool, index) => toolCall(index, tool));
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), calls));
  return turn;
}

function end(turn: TurnReference, outcome: TurnOutcome) {
  return endTurn(sql, { turn, outcome, reason: null, breakdown: null }, closeToolCall);
}

function effect(turn: TurnReference, tool: string, callIndex = 0): string {
  const key = idempotencyKeyOf({ turn, callNumber: 1, callIndex });
  return `${JSON.stringify({ tool, effect: tool === 'set_state' ? 'idempotent' : 'once', key, attempt: 1 })}\n`;
}

async function namesOf(journal: string, turns: readonly TurnReference[]): Promise<string[]> {
  await writeFile(join(directory, JOURNAL), journal);
  const { violations } = await checkJournal(sql, directory);
  return violations.filter(({ found }) => turns.some(({ turnId }) => found.includes(turnId))).map(({ name }) => name);
}

describe('the journal', () => {
  test('an effect of `once` that is there twice is a violation, one of `idempotent` is none', async () => {
    const turn = await turnThatCalls('charge', 'set_state');
    await finishToolCall(sql, turn, 1, 0);
    await finishToolCall(sql, turn, 1, 1);
    const right = effect(turn, 'charge') + effect(turn, 'set_state', 1) + effect(turn, 'set_state', 1);
    expect(await namesOf(right, [turn])).toEqual([]);
    expect(await namesOf(right + effect(turn, 'charge'), [turn])).toEqual(['once_acts_once']);
  });

  test('a success without an effect is a violation, also where the journal lacks all of a tool', async () => {
    const turn = await turnThatCalls('wire');
    await finishToolCall(sql, turn, 1, 0);
    expect(await namesOf('', [turn])).toEqual(['success_has_effect']);
  });

  test('an effect of a call that is said not to have run, or of no call, is a violation', async () => {
    const turn = await turnThatCalls('wire');
    await finishToolCall(sql, turn, 1, 0, { outcome: 'not_run' });
    expect(await namesOf(effect(turn, 'wire'), [turn])).toEqual(['effect_has_call']);
    expect(await namesOf(effect(turn, 'wire', 7), [turn])).toEqual(['effect_has_call']);
    const nobody = { ...turn, turnId: '00000000-0000-7000-8000-000000000000' };
    expect(await namesOf(effect(nobody, 'wire'), [nobody])).toEqual(['effect_of_no_turn']);
  });

  test('a last line that was cut off counts for nothing, any other ends the check', async () => {
    const turn = await turnThatCalls('charge');
    await finishToolCall(sql, turn, 1, 0);
    const line = effect(turn, 'charge');
    expect(await namesOf(line + line.slice(0, 20), [turn])).toEqual([]);
    await expect(namesOf(line.slice(0, 20) + line, [turn])).rejects.toThrow('line 1 of the journal');
  });
});

describe('an unknown outcome', () => {
  const struck = { since: 0, until: Date.now() + 600_000 };

  async function judge(turn: TurnReference, strikes: readonly Interval[] = []) {
    const suspects = await findSuspects(sql, strikes);
    return suspects.filter(({ key }) => key.includes(turn.turnId));
  }

  test('is explained by a strike that lasted while it was open', async () => {
    const turn = await turnThatCalls('charge');
    await finishToolCall(sql, turn, 1, 0, { outcome: 'outcome_unknown' });
    expect(await judge(turn, [struck])).toMatchObject([{ name: 'outcome_unknown', explainedBy: 'strike' }]);
    const alone = await judge(turn, [{ since: 0, until: 1_000 }]);
    expect(alone).toMatchObject([{ explainedBy: null }]);
    expect(unexplained(alone)).toMatchObject([{ name: 'outcome_unknown' }]);
  });

  test('is explained by the stop that found it open, not by one that found it closed', async () => {
    const closed = await turnThatCalls('charge');
    await claimToolCall(sql, { turn: closed, callNumber: 1, callIndex: 0, ...claimer('worker-1') });
    await send(sql, { conversationId: closed.conversationId, kind: 'stop' });
    await end(closed, 'stopped');
    expect(await judge(closed)).toMatchObject([{ explainedBy: 'stop' }]);
    const before = await turnThatCalls('charge');
    await finishToolCall(sql, before, 1, 0, { outcome: 'outcome_unknown' });
    await send(sql, { conversationId: before.conversationId, kind: 'stop' });
    await end(before, 'stopped');
    expect(await judge(before)).toMatchObject([{ explainedBy: null }]);
  });
});

test('a model call that was paid again is a violation unless a strike lasted between its tries', async () => {
  const turn = await startTurn(sql);
  for (const attempt of [1, 2]) await register(sql, turn, 1, { ...FIRST_ATTEMPT, attempt });
  const paidAgain = async (strikes: readonly Interval[]) =>
    (await findSuspects(sql, strikes)).filter(({ key }) => key === `${turn.turnId}:1`);
  expect(unexplained(await paidAgain([]))).toMatchObject([{ name: 'model_call_paid_again' }]);
  expect(unexplained(await paidAgain([{ since: 0, until: Date.now() + 600_000 }]))).toEqual([]);
});

test('a turn that lost its workflow is a violation', async () => {
  const turn = await startTurn(sql);
  await end(turn, 'completed');
  const lost = await startTurn(sql);
  await end(lost, 'interrupted');
  expect(await findInterrupted(sql)).toEqual([{ name: 'turn_interrupted', found: `turn ${lost.turnId}: null` }]);
});

describe('reports', () => {
  const job = inventJob(2, 1, new SeededRandom(7));

  function reportOf({ items }: Job): string {
    const rows = items.map(({ label, facts }) => `| ${label} | ${facts.map(({ value }) => value).join(' | ')} |`);
    return ['| item | serial | pressure |', '| --- | --- | --- |', ...rows, ''].join('\n');
  }

  async function conversationWith(report: string | null, ...outcomes: TurnOutcome[]): Promise<SoakConversation> {
    const [first = 'completed', ...rest] = outcomes;
    let turn = await startTurn(sql);
    await end(turn, first);
    const { conversationId } = turn;
    let readingMessageId = '';
    for (const outcome of rest) {
      readingMessageId = await send(sql, { conversationId, ...text('Read.') });
      turn = await continueConversation(sql, conversationId);
      await end(turn, outcome);
    }
    const workspace = join(directory, conversationId);
    await mkdir(workspace);
    if (report !== null) await writeFile(join(workspace, 'report.md'), report);
    return { conversationId, workspace, job, readingMessageId, mayStop: true };
  }

  test('a fact that is wrong, missing or told twice is a violation', async () => {
    const right = reportOf(job);
    const checked = await checkReports(sql, [await conversationWith(right, 'completed', 'completed')]);
    expect(checked).toEqual({ violations: [], right: 4, checked: 4, reports: 1, owed: 0, given: 0 });
    const serial = job.items[0]?.facts[0]?.value ?? '';
    const wrong = await checkReports(sql, [
      await conversationWith(right.replace(serial, 'SN1'), 'completed', 'completed'),
    ]);
    expect(wrong).toMatchObject({ violations: [{ name: 'fact_wrong' }], right: 3, checked: 4 });
    const missing = await checkReports(sql, [await conversationWith(null, 'completed', 'completed')]);
    expect(missing).toMatchObject({ right: 0, checked: 4 });
    expect(missing.violations).toHaveLength(4);
    const last = right.trim().split('\n').at(-1);
    const doubled = await checkReports(sql, [await conversationWith(`${right}${last}\n`, 'completed', 'completed')]);
    expect(doubled.violations).toMatchObject([{ name: 'row_twice' }]);
  });

  test('a task that was not completed, or came after a turn that was not, owes none', async () => {
    const stopped = await conversationWith(null, 'completed', 'stopped');
    const behind = await conversationWith(null, 'stopped', 'completed');
    const nothing = { violations: [], right: 0, checked: 0, reports: 0, owed: 0, given: 0 };
    expect(await checkReports(sql, [stopped, behind])).toEqual(nothing);
  });

  test('a task that nobody stopped owes its report, unless faults of the model ended it', async () => {
    const never = async (outcome: TurnOutcome) => ({
      ...(await conversationWith(null, 'completed', outcome)),
      mayStop: false,
    });
    const checked = await checkReports(sql, [await never('budget_exhausted'), await never('model_failed')]);
    expect(checked).toMatchObject({ reports: 0, owed: 2, given: 0, violations: [{ name: 'report_missing' }] });
    const given = { ...(await conversationWith(reportOf(job), 'completed', 'completed')), mayStop: false };
    expect(await checkReports(sql, [given])).toMatchObject({ reports: 1, owed: 1, given: 1 });
  });
});

test('a process that is left behind is a violation', async () => {
  expect(await findLeft(directory)).toEqual([]);
  const left = spawn('sleep', ['60'], {
    env: { PATH: process.env['PATH'], TMPDIR: directory },
    detached: true,
    stdio: 'ignore',
  });
  try {
    await once(left, 'spawn');
    expect(await findLeft(directory, 0)).toEqual([{ name: 'process_left', found: `${left.pid} sleep 60` }]);
  } finally {
    left.kill('SIGKILL');
  }
});
