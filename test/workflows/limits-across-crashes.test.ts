import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import type { CountedOfConversation } from '../../src/turn/spending.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

/** Seconds; more than a takeover takes, or the turn would end before it goes on. */
const WALL_TIME = 20;
/** Looks before the command during which the worker is killed, and looks after it. A step reads 450 tokens or more and writes about 20. */
const LOOKS_BEFORE = 2;
const LOOKS_AFTER = 6;

interface Limit {
  readonly counted: CountedOfConversation;
  readonly scope: 'turn' | 'conversation';
  readonly limit: number;
  readonly reason: string;
  /** What `holdfast resume` is given; more than the rest of the task needs. */
  readonly raise: readonly string[];
  /** What the model is told on the way. */
  readonly note: RegExp;
}

const KINDS: readonly (Omit<Limit, 'scope' | 'note'> & { readonly told: string })[] = [
  { counted: 'steps', limit: 5, reason: 'step_limit', raise: ['--steps', '+20'], told: '\\d of 5 steps' },
  {
    counted: 'cost',
    limit: 0.3,
    reason: 'cost_limit',
    raise: ['--cost', '+20'],
    told: '\\$\\d+\\.\\d\\d of \\$0\\.30',
  },
  {
    counted: 'wallTime',
    limit: WALL_TIME,
    reason: 'wall_time_limit',
    raise: ['--wall-time', '+300'],
    told: `\\d+ of ${WALL_TIME} s`,
  },
];

/** Each in one of the two scopes. */
const LIMITS: readonly Limit[] = KINDS.map(({ counted, limit, reason, raise, told }, index) => {
  const scope = index % 2 === 0 ? 'turn' : 'conversation';
  return {
    counted,
    limit,
    raise,
    scope,
    reason: scope === 'turn' ? reason : `conversation_${reason}`,
    note: new RegExp(`\\[Limit\\]\\nThis ${scope} has used ${told}\\.`),
  };
});

const agentOf = ({ scope, counted }: Pick<Limit, 'scope' | 'counted'>): string => `${scope}-${counted}`;

let harness: TurnHarness;

beforeAll(async () => {
  const agents = LIMITS.map(
    (each) => `  ${agentOf(each)}:
    instructions: Work.
    tools: [list_files, run_command]
    allowCommands: true
    limits:
      noteAt: 0.01
      repeatedCalls: 100
      ${each.scope === 'turn' ? `${each.counted}: ${each.limit}` : `conversation: { ${each.counted}: ${each.limit} }`}
`,
  );
  harness = await startTurnHarness({
    configurationFile: `models:
  simulator/sim-32k:
    prices: { input: 100, output: 100, cacheRead: 100, cacheWrite: 100 }
agents:
${agents.join('')}`,
  });
});

afterAll(() => harness.stop());

const look = (times: number): string => `Call list_files with {"path": "."} ${times} times, one by one`;
/** A turn that gets no further than its time is in the second command when that is over. */
const taskFor = ({ counted }: Limit): string =>
  counted === 'wallTime'
    ? `${look(LOOKS_BEFORE)}\nCall run_command with {"command": "sleep 120"}\nCall run_command with {"command": "sleep 30"}`
    : `${look(LOOKS_BEFORE)}\nCall run_command with {"command": "sleep 120"}\n${look(LOOKS_AFTER)}`;

async function resume(conversationId: string, raise: readonly string[]): Promise<string> {
  const { stdout } = await runInProcess(['resume', conversationId, ...raise, '--json'], {
    environment: harness.environment,
  });
  return (JSON.parse(stdout) as { messageId: string }).messageId;
}

test('each limit holds across the death of a worker, the model is told before, and a raise of it lets the turn go on', async () => {
  const { client, database } = harness;
  const doomed = await startWorkerProcess(harness);
  const inCommand = async (turns: number): Promise<void> =>
    waitUntil(
      'every turn is in its command',
      async () =>
        (await database`select from tool_calls where name = 'run_command' and state = 'claimed'`).length === turns,
      90_000,
    );
  const begin = (limits: readonly Limit[]) =>
    Promise.all(
      limits.map(async (limit) => ({
        ...limit,
        ...(await client.start(taskFor(limit), { agent: agentOf(limit) })),
      })),
    );
  const begun = await begin(LIMITS.filter(({ counted }) => counted !== 'wallTime'));
  await inCommand(begun.length);
  // Their time runs: they begin when the worker has nothing else to do.
  begun.push(...(await begin(LIMITS.filter(({ counted }) => counted === 'wallTime'))));
  await inCommand(begun.length);
  doomed.kill('SIGKILL');
  await doomed.exited;
  await harness.startWorker();
  const ended = [];
  for (const each of begun) {
    const turn = await client.conversation.outcome({ ...each, timeoutMilliseconds: 120_000 });
    ended.push({ name: agentOf(each), turn });
  }
  expect(
    ended.map(({ name, turn }) => [
      name,
      turn.state === 'ended' && turn.outcome,
      turn.state === 'ended' && turn.reason,
    ]),
  ).toEqual(begun.map((each) => [agentOf(each), 'budget_exhausted', each.reason]));
  for (const { conversationId, note, counted, limit } of begun) {
    const { items: entries } = await client.log.entries({ conversationId, limit: 500 });
    const notes = entries.filter(({ kind }) => kind === 'note').map(({ content }) => textOf(content));
    // Of the default limit of steps it is told too, so early.
    expect(notes.filter((text) => note.test(text))).toHaveLength(1);
    const [used] = await database<Record<string, number>[]>`
      select steps from turns where conversation_id = ${conversationId}`;
    if (counted === 'steps') expect(used?.['steps']).toBe(limit);
    else expect(used?.['steps']).toBeGreaterThan(LOOKS_BEFORE);
  }
  await goOn(begun);
});

/** With too little of what was spent a turn does not go on; with enough it does what is left. */
async function goOn(turns: readonly (Limit & { readonly conversationId: string })[]): Promise<void> {
  const { client } = harness;
  const resumed = [];
  for (const { conversationId, counted, raise, ...limit } of turns) {
    const other = counted === 'steps' ? { cost: 1 } : { steps: 1 };
    await expect(client.conversation.resume({ conversationId, raise: other })).rejects.toMatchObject({
      code: 'limit_not_raised',
    });
    const messageId = await resume(conversationId, raise);
    resumed.push({ conversationId, messageId, name: agentOf({ ...limit, counted }) });
  }
  const outcomes = [];
  for (const { name, ...sent } of resumed) {
    const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
    outcomes.push([name, turn.state === 'ended' && turn.outcome]);
  }
  expect(outcomes).toEqual(turns.map((limit) => [agentOf(limit), 'completed']));
}
