import { beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { CliResult } from './cli-result.ts';
import { startCli } from './run-cli.ts';
import { runInProcess } from './run-in-process.ts';

let worker: RunningWorker;
let deployed: string[] = [];

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys a version.',
  input: z.object({ version: z.string(), notes: z.string().optional() }),
  effect: 'once',
  approval: () => true,
  run: ({ version }) => {
    deployed.push(version);
    return Promise.resolve({ content: `deployed ${version}` });
  },
});

const harness = useTurnHarness({ tools: [deploy], agent: { tools: ['deploy', 'ask_user'] } });

beforeAll(async () => {
  worker = await harness.startWorker();
});

beforeEach(() => {
  deployed = [];
});

const cli = async (...args: readonly string[]): Promise<CliResult> =>
  runInProcess(args, { environment: harness.environment, directory: harness.workspace });

/** A task whose calls wait for a person. */
async function waitingFor(task: string, calls = 1) {
  const sent = await harness.client.start(task);
  await waitUntil('calls wait', async () => {
    const { waitingCalls } = await harness.client.conversation.get({ conversationId: sent.conversationId });
    return waitingCalls.length === calls;
  });
  return { ...sent, short: sent.conversationId.slice(-8) };
}

type Sent = Awaited<ReturnType<typeof waitingFor>>;

const endOf = ({ conversationId, messageId }: Sent) =>
  harness.client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 240_000 });

const lines = ({ stdout, stderr, code }: CliResult) => ({ code, stderr, lines: stdout.trimEnd().split('\n') });

async function withoutWorker(work: () => Promise<void>): Promise<void> {
  worker.shutdown();
  await worker.ended;
  try {
    await work();
  } finally {
    worker = await harness.startWorker();
  }
}

/** A worker that has just begun may not be known yet. */
const STORED = expect.stringMatching(/^It is stored; the turn goes on( once a worker serves it)?\.$/u);

test('approve says what was approved, on one line and safe to print, and the turn goes on', async () => {
  const waiting = await waitingFor(
    `Call deploy with ${JSON.stringify({ version: '1.0 \u001b[2J\nrm -rf', notes: 'long '.repeat(200) })}`,
  );
  expect(lines(await cli('approve', waiting.short))).toEqual({
    code: 0,
    stderr: '',
    lines: [
      'Approved call 1.1.0: deploy 1.0  rm -rf notes=‹1,000 characters›',
      STORED,
      `  watch it: npx holdfast watch ${waiting.short}`,
    ],
  });
  expect((await endOf(waiting)).outcome).toBe('completed');
  expect(new Set(deployed).size).toBe(1);
});

test('with no worker alive approve, answer and resume are stored, and a stop has exit code 1 as JSON too: the turn has not ended', async () => {
  const running = await waitingFor('Call deploy with {"version": "5.0"}');
  const approved = await waitingFor('Call deploy with {"version": "2.0"}');
  const answered = await waitingFor('Call ask_user with {"question": "Which \\"one\\"?"}');
  const stopped = await waitingFor('Call deploy with {"version": "2.2"}');
  await harness.client.conversation.stop({ conversationId: stopped.conversationId });
  await endOf(stopped);
  await withoutWorker(async () => {
    expect(lines(await cli('approve', approved.short, '1.1.0', '--for', 'turn')).lines.slice(0, 2)).toEqual([
      'Approved call 1.1.0 and all calls of this turn under tool deploy: deploy 2.0',
      STORED,
    ]);
    expect(lines(await cli('answer', answered.short, 'The second')).lines.slice(0, 2)).toEqual([
      'Answered call 1.1.0: Which "one"?',
      STORED,
    ]);
    expect(lines(await cli('resume', stopped.short)).lines).toEqual([
      'It is stored; the task goes on in a new turn once a worker serves it.',
      `  watch it: npx holdfast watch ${stopped.short}`,
    ]);
    const json = await cli('stop', running.short, '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ wasRunning: true, outcome: null });
  });
  expect((await endOf(running)).outcome).toBe('stopped');
  for (const one of [approved, answered]) expect((await endOf(one)).outcome).toBe('completed');
  await waitUntil('the resumed turn ends', async () => {
    const { turn, waitingMessages } = await harness.client.conversation.get({ conversationId: stopped.conversationId });
    return waitingMessages === 0 && turn?.outcome === 'completed';
  });
  expect(deployed).toEqual(['2.0']);
});

test('of several calls each is named by show, decided by its name, and the reply counts what still waits', async () => {
  const waiting = await waitingFor(
    'Call deploy with {"version": "3.0"} and deploy with {"version": "3.1"} and ask_user with {"question": "Sure?"}',
    3,
  );
  expect(lines(await cli('approvals')).lines).toEqual([
    'No decision stands for an agent.',
    `Calls that wait for a decision: npx holdfast show ${waiting.short}`,
  ]);
  const shown = (await cli('show', waiting.short)).stdout.split('\n').filter((line) => /^call |next:/.test(line));
  expect(shown).toEqual([
    'call 1.1.0 waits for approval: deploy {"version":"3.0"} (rule: tool deploy; expires in 23 h)',
    'call 1.1.1 waits for approval: deploy {"version":"3.1"} (rule: tool deploy; expires in 23 h)',
    'call 1.1.2 asks: Sure? (expires in 23 h)',
    `  next: npx holdfast approve ${waiting.short} 1.1.0 (or deny)`,
    `  next: npx holdfast answer ${waiting.short} "…" --call 1.1.2`,
  ]);
  expect(await cli('approve', waiting.short)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `error (decision_ambiguous): 2 calls wait: name one of 1.1.0 (deploy), 1.1.1 (deploy)\nnext: \`npx holdfast show ${waiting.short}\` shows each; name one: \`npx holdfast approve ${waiting.short} <call>\`.\n`,
  });
  expect(await cli('deny', waiting.short, '1.0')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^error \(invalid_argument\): "1\.0" names a call in every turn: write the whole name/,
    ),
  });
  expect(await cli('answer', waiting.short, 'yes', '--call', '1.1.0')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^error \(decision_not_found\): call 1\.1\.0 asks for an approval: approve or deny it/,
    ),
  });
  expect((await cli('approve', waiting.short, '9.9.9')).stderr).toMatch(
    /no call 9\.9\.9 in .*; waiting: 1\.1\.0 \(deploy\), 1\.1\.1 \(deploy\), 1\.1\.2 \(ask_user\)/u,
  );
  expect(lines(await cli('deny', waiting.short, '1.1.1', '--reason', 'too early')).lines).toEqual([
    'Denied call 1.1.1: deploy 3.1',
    'The turn waits for 2 more decisions.',
    `  watch it: npx holdfast watch ${waiting.short}`,
  ]);
  expect(lines(await cli('approve', waiting.short)).lines[1]).toBe('The turn waits for 1 more decision.');
  expect(lines(await cli('answer', waiting.short, 'yes')).lines[1]).toEqual(STORED);
  await endOf(waiting);
  expect(deployed).toEqual(['3.0']);
  expect(await cli('approve', waiting.short, '1.1.1')).toMatchObject({
    code: 2,
    stderr: `error (decision_stale): call 1.1.1 (deploy) is denied already: a decision is final\nnext: \`npx holdfast show ${waiting.short}\` shows how the call ended.\n`,
  });
  const watched = (await cli('watch', waiting.short, '--plain')).stdout;
  expect(watched).toContain('deploy waits for your approval (call 1.1.1): {"version":"3.1"}');
  expect(watched).toContain('The agent asks (call 1.1.2): Sure?');
  expect(watched).toMatch(/deploy \(call 1\.1\.1\): denied by \S+\./u);
});

test('send and compact say that the turn waits for a decision and how to give it; the compaction is made when it has come', async () => {
  const waiting = await waitingFor('Call deploy with {"version": "6.0"}');
  const decide = `npx holdfast approve ${waiting.short} 1.1.0 (or deny)`;
  const watchIt = `  watch it: npx holdfast watch ${waiting.short}`;
  expect(lines(await cli('send', waiting.short, 'Be quick')).lines).toEqual([
    'Sent; the running turn waits for you to decide on call 1.1.0 (deploy), and sees it at its next step, after that.',
    `  next: ${decide}`,
    watchIt,
  ]);
  const compacting = startCli(['compact', waiting.short], {
    environment: harness.environment,
    directory: harness.workspace,
  });
  await waitUntil('the compaction is followed', () => compacting.stdout() !== '');
  expect(compacting.stdout()).toBe(
    `! The turn waits for your approval of call 1.1.0 (deploy); the compaction is made when the decision has come: ${decide}\n`,
  );
  expect(lines(await cli('approve', waiting.short)).lines[0]).toBe('Approved call 1.1.0: deploy 6.0');
  const { code, stdout, stderr } = await compacting.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/deploy \(call 1\.1\.0\): approved by \S+\.\n[^]*(?:Nothing was compacted|compaction done)/u);
  expect((await endOf(waiting)).outcome).toBe('completed');
  // A queued one starts a turn of its own, after that.
  const queuedBehind = await waitingFor('Call ask_user with {"question": "Sure?"}');
  expect(lines(await cli('send', queuedBehind.short, 'Then this', '--queue')).lines).toEqual([
    'Sent; the running turn waits for you to decide on call 1.1.0 (ask_user), and the next turn begins with it.',
    `  next: npx holdfast answer ${queuedBehind.short} "…" --call 1.1.0`,
    `  watch it: npx holdfast watch ${queuedBehind.short}`,
  ]);
  await cli('answer', queuedBehind.short, 'yes');
  expect((await endOf(queuedBehind)).outcome).toBe('completed');
});

test('what stands for an agent decides what waits elsewhere, is listed and ended', async () => {
  const one = await waitingFor('Call deploy with {"version": "4.0"}');
  const other = await waitingFor('Call deploy with {"version": "4.1"}');
  expect(lines(await cli('deny', one.short, '--for', 'agent')).lines.slice(0, 3)).toEqual([
    'Denied call 1.1.0 and all calls of this agent under tool deploy: deploy 4.0',
    '2 waiting calls were decided with it.',
    STORED,
  ]);
  await Promise.all([endOf(one), endOf(other)]);
  expect((await cli('watch', other.short, '--plain')).stdout).toContain(
    'deploy (call 1.1.0): denied by what stands for the agent.',
  );
  const listed = lines(await cli('approvals'));
  expect(listed.lines[0]).toMatch(/^agent +rule +decision +since$/);
  expect(listed.lines[1]).toMatch(/^default +tool deploy +denied +\d{4}-\d\d-\d\dT/);
  expect(lines(await cli('approvals', '--agent', 'other')).lines).toEqual(['No such decision stands for an agent.']);
  expect(lines(await cli('approvals', '--agent', 'default')).lines).toEqual(listed.lines);
  expect(await cli('approvals', '--end', '--agent', 'default')).toMatchObject({
    code: 2,
    stderr: 'error (usage): --end needs --agent and --rule.\nnext: See `npx holdfast approvals` for both.\n',
  });
  const end = ['approvals', '--end', '--agent', 'default', '--rule', 'tool deploy'];
  expect(lines(await cli(...end)).lines).toEqual(['Calls under tool deploy of agent default ask again.']);
  expect(lines(await cli('approvals')).lines).toEqual(['No decision stands for an agent.']);
  expect(await cli(...end)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^error \(decision_not_found\): no decision stands for agent default and rule "tool deploy"/,
    ),
  });
  expect(deployed).toEqual([]);
});
