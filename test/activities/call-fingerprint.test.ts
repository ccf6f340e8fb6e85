import { z } from 'zod';
import { expect, test } from 'vitest';
import { runTool } from '../../src/activities/tool/run-tool.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { ToolContext, ToolDefinition, ToolResult } from '../../src/tools/tool.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { useTestStore } from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { turnCalling } from './support/tool-calls.ts';

const { sql } = useTestStore();

type Act = (context: ToolContext) => Promise<ToolResult>;

/** A tool that does one thing after the other. */
function toolThat(...acts: readonly Act[]): ToolDefinition {
  const left = [...acts];
  return defineTool({
    name: 'act',
    description: 'Acts.',
    input: z.object({}),
    effect: 'once',
    exclusive: true,
    run: async (_, context) => (await left.shift()?.(context)) ?? { content: 'nothing left to do' },
  });
}

async function told(turn: TurnReference, tool: ToolDefinition, calls: number): Promise<(string | undefined)[]> {
  const fingerprints: (string | undefined)[] = [];
  for (let callIndex = 0; callIndex < calls; callIndex += 1) {
    const call = { turn, callNumber: 1, callIndex };
    fingerprints.push((await runTool(activityDependencies(sql, { tools: [tool] }), call, execution())).fingerprint);
  }
  return fingerprints;
}

/** What the loop guard is told of each call, by the worker that ran it and by one that finds it finished: the same. */
async function fingerprintsOf(...acts: readonly Act[]): Promise<(string | undefined)[]> {
  const tool = toolThat(...acts);
  const turn = await turnCalling(sql, tool, acts.length);
  const fresh = await told(turn, tool, acts.length);
  expect(await told(turn, tool, acts.length)).toEqual(fresh);
  return fresh;
}

const writing =
  (output: string, end: ToolResult): Act =>
  async (context) => {
    await context.output.write(output);
    return end;
  };

const took = (seconds: number): ToolResult => ({ content: `[done; ${seconds} s]`, comparedBy: 'done' });

test('results that differ only in what the tool says is another each time are the same; with another output they are not', async () => {
  const [first, second, third, failed] = await fingerprintsOf(
    writing('same\n', took(9.9)),
    writing('same\n', took(10.1)),
    writing('other\n', took(9.9)),
    writing('same\n', { content: '[failed; 9.9 s]', comparedBy: 'failed' }),
  );
  expect(second).toBe(first);
  expect(new Set([first, third, failed]).size).toBe(3);
});

test('results too long to be shown whole are compared whole', async () => {
  const long = (middle: string): string => `${'a'.repeat(50_000)}${middle}${'z'.repeat(50_000)}`;
  const [first, second, third, timed, timedAgain, timedOther] = await fingerprintsOf(
    writing(long('one'), { content: '' }),
    writing(long('one'), { content: '' }),
    writing(long('two'), { content: '' }),
    writing(long('one'), took(9.9)),
    writing(long('one'), took(10.1)),
    writing(long('two'), took(9.9)),
  );
  expect(second).toBe(first);
  expect(timedAgain).toBe(timed);
  expect(new Set([first, third, timed, timedOther]).size).toBe(4);
});

test('calls that nobody decided on in time have the same result, whatever time it was', async () => {
  const tool = toolThat();
  const turn = await turnCalling(sql, tool, 3);
  const decided = async (callIndex: number, state: string, text: string | null) => sql`
    insert into decisions (turn_id, call_number, call_index, conversation_id, epoch, kind, agent, tool, rules, state,
      scope, content, decided_at, expires_at)
    values (${turn.turnId}, 1, ${callIndex}, ${turn.conversationId}, ${turn.epoch}, 'approval', 'default', 'act', '{act}',
      ${state}, ${state === 'denied' ? 'call' : null}, ${text === null ? null : JSON.stringify(text)}::text::json, now(), now() + make_interval(days => ${callIndex}))`;
  await decided(0, 'expired', null);
  await decided(1, 'expired', null);
  await decided(2, 'denied', 'Not today.');
  const fresh = await told(turn, tool, 3);
  expect(fresh[1]).toBe(fresh[0]);
  expect(fresh[2]).not.toBe(fresh[0]);
  expect(await told(turn, tool, 3)).toEqual(fresh);
});
