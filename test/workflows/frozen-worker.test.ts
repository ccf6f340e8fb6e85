import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../src/context/log/content.ts';
import { entryListLines } from '../../src/cli/render/lists/entry-list.ts';
import { PLAIN_STYLE } from '../../src/cli/render/text/style.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { endSessions } from '../support/end-sessions.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

/** A program whose worker has a tool that acts inside its process, where no other worker can end it: it writes down when, and when it is stopped. */
const SCRIPT = `
  import { appendFile } from 'node:fs/promises';
  const { createWorker, defineTool } = await import(process.argv[2]);
  const { z } = await import(${JSON.stringify(import.meta.resolve('zod'))});
  const act = defineTool({
    name: 'act',
    description: 'Acts until it is stopped.',
    input: z.object({}),
    effect: 'none',
    async run(_input, { signal }) {
      while (!signal.aborted) {
        await appendFile('acts.txt', Date.now() + '\\n');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      // The last line: it may be stopped before it acts again.
      await appendFile('acts.txt', Date.now() + '\\n');
      // A result counts, whether it comes in time or after its call was given up.
      return { content: 'stopped acting' };
    },
  });
  const worker = await createWorker({ tools: [act] });
  await worker.ended;`;

/** The same tool of the worker that takes over, which has it at once. */
const act = defineTool({
  name: 'act',
  description: 'Acts until it is stopped.',
  input: z.object({}),
  effect: 'none',
  run: () => Promise.resolve({ content: 'acted' }),
});

let script: string;

const agent = { allowCommands: true, tools: ['run_command', 'act'] };
const harness = useTurnHarness({ agent, tools: [act] });

beforeAll(async () => {
  await writeFile(join(harness.workspace, 'holdfast.yaml'), JSON.stringify({ agents: { default: agent } }));
  script = join(harness.workspace, 'worker.mjs');
  await writeFile(script, SCRIPT);
});

/** When the tool acted, in milliseconds since 1970. */
async function acts(): Promise<number[]> {
  const text = await readFile(join(harness.workspace, 'acts.txt'), 'utf8').catch(() => '');
  return text.trimEnd().split('\n').filter(Boolean).map(Number);
}

/** When a worker said first that a model call of its was replaced, in milliseconds since 1970. */
function replacedAt(output: string): number {
  const line = output
    .split('\n')
    .find((each) => /stale_epoch|superseded_attempt/u.test(each) && each.includes('callModel'));
  const { time } = z.object({ time: z.union([z.number(), z.string()]) }).parse(JSON.parse(line ?? '{}'));
  return new Date(time).getTime();
}

/** Everything that turns write, late results and their event left out. */
async function written(): Promise<unknown> {
  const sql = harness.database;
  return {
    conversations: await sql`select id, epoch, head_entry_id, cost, model_calls from conversations order by id`,
    turns: await sql`select id, outcome, cost, model_calls from turns order by id`,
    entries: await sql`select id, sequence, content::text from entries order by conversation_id, sequence`,
    modelCalls: await sql`select turn_id, call_number, attempt, state, cost from model_attempts order by 1, 2, 3`,
    toolCalls: await sql`select turn_id, attempt, state, outcome, partial_output::text from tool_calls order by 1`,
    events: await sql`
      select conversation_id, kind, data::text from events where kind <> 'tool_result_late' order by 1, number`,
  };
}

test('a worker that wakes up after its turns were taken over writes nothing, stops its model call and its tools, and its report is shown as late', async () => {
  await harness.fault({ kind: 'hang', match: { containing: 'Say hello' } });
  const frozen = await startWorkerProcess(harness, {}, script);
  onTestFinished(() => frozen.kill('SIGKILL'));
  const acting = await harness.client.start('Call act with {}');
  const command = await harness.client.start('Call run_command with {"command": "echo begun; sleep 300"}');
  const answer = await harness.client.start('Say hello');
  await waitUntil('both work', async () => {
    const noted = await harness.database`select 1 from tool_calls where partial_output is not null`;
    const asked = await harness.database`
      select 1 from model_attempts where conversation_id = ${answer.conversationId} and state = 'registered'`;
    const begun = noted.length === 1 && asked.length === 1 && (await acts()).length > 0;
    return begun && (await harness.asked()).total === 3;
  });
  frozen.kill('SIGSTOP');
  await endSessions(harness.database, frozen.processId);
  await harness.startWorker();
  for (const sent of [acting, command, answer]) {
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
    expect(turn).toMatchObject({ outcome: 'completed' });
  }
  const { items: calls } = await harness.client.log.modelCalls({ conversationId: answer.conversationId });
  expect(calls.map(({ attempt, state }) => [attempt, state])).toEqual([
    [1, 'failed'],
    [2, 'answered'],
  ]);
  const before = await written();
  const wokenAt = Date.now();
  frozen.kill('SIGCONT');
  // Of the command no report may come: on a busy machine its call is given up before its processes have ended.
  const results = async ({ conversationId }: typeof acting) => {
    const { items: entries } = await harness.client.log.entries({ conversationId });
    return entries.filter(({ kind }) => kind === 'tool_result');
  };
  await waitUntil('its report has arrived', async () => (await results(acting))[0]?.lateResults.length === 1);
  frozen.kill('SIGTERM');
  const { code, output } = await frozen.exited;
  expect(code).toBe(0);
  expect(replacedAt(output)).toBeGreaterThan(wokenAt);
  // It woke up in the middle of acting, and was stopped then.
  const stoppedAt = (await acts()).at(-1) ?? 0;
  expect(stoppedAt).toBeGreaterThan(wokenAt);
  expect(await written()).toEqual(before);
  const [unknown] = await results(command);
  expect(textOf(unknown?.content ?? [])).toMatch(/^Outcome unknown: .*begun\n$/su);
  const shown = entryListLines(await results(acting), { columns: null, style: PLAIN_STYLE, full: false });
  expect(shown.join('\n')).toMatch(/acted[^]*late result of attempt 1, .*; not in the view\n {4}stopped acting/u);
});
