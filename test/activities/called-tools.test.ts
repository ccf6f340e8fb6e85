import { z } from 'zod';
import { expect, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { WOLFFISH_POLICY } from '../../src/context/policy/presets/wolffish.ts';
import type { ModelAnswer } from '../../src/models/model-client.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { ToolDefinition } from '../../src/tools/tool.ts';
import { createToolRegistry } from '../../src/tools/runtime/registry.ts';
import { toolSchema } from '../../src/tools/runtime/tool-input.ts';
import { headOf, startTurn, toolCall, useTestStore } from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

const { sql } = useTestStore();

const tool = defineTool({
  name: 'act',
  description: 'Acts.',
  input: z.object({}),
  effect: 'none',
  run: () => Promise.resolve({ content: 'done' }),
});

/** What the workflow is told of the tools that an answer calls. @param tools those of the turn @param own those of the worker */
async function answered(
  tools: readonly ToolDefinition[],
  content: ModelAnswer['content'],
  own: readonly ToolDefinition[] = [],
  policy: CompactionPolicy = DEFAULT_POLICY,
) {
  const toolTraits = createToolRegistry(tools).traitsFor({
    tools: tools.map(({ name }) => name),
    allowCommands: false,
  });
  const turn = await startTurn(sql, 'Act', { snapshot: { policy, tools: tools.map(toolSchema), toolTraits } });
  const answer: ModelAnswer = { content, stopReason: 'tool_calls' };
  const dependencies = {
    ...activityDependencies(sql, { tools: own }),
    modelClient: () => ({ answer: () => Promise.resolve(answer) }),
  };
  const headEntryId = await headOf(sql, turn.conversationId);
  return callModel(dependencies, { turn, callNumber: 1, headEntryId }, execution({ attempt: 9 }));
}

test('a worker that lacks a tool knows from the turn how it runs and whether it asks; what is no tool runs beside others', async () => {
  const names = ['act', 'unknown_tool'];
  const calls = [toolCall(0, 'act'), toolCall(1, 'invented')];
  const plain = await answered([tool], calls);
  expect(plain).toMatchObject({ tools: { names, exclusive: [], timeoutSeconds: [120, 120] } });
  expect(plain).not.toHaveProperty('asks');
  const special = { ...tool, exclusive: true, timeout: 5_000, approval: true };
  expect(await answered([special], calls)).toMatchObject({
    tools: { names, exclusive: [0], timeoutSeconds: [5, 120] },
    asks: true,
  });
});

test('W31 under wolffish the calls of an answer run one by one, whatever their tools say', async () => {
  const calls = [toolCall(0, 'act'), toolCall(1, 'invented')];
  expect(await answered([tool], calls, [], WOLFFISH_POLICY)).toMatchObject({ tools: { exclusive: [0, 1] } });
});

test("a call waits for approval if the worker's version of its tool asks, also in a turn that began with one that did not", async () => {
  const asking = { ...tool, approval: true };
  expect(await answered([tool], [toolCall(0, 'act')], [asking])).toMatchObject({ asks: true });
  expect(await answered([tool], [toolCall(0, 'other')], [asking])).not.toHaveProperty('asks');
});

test.each([70, 200])(
  'an answer that calls %i tools with names of 64 characters is described in less than 8 KB',
  async (count) => {
    const tools = Array.from({ length: count }, (_, index) => ({
      ...tool,
      name: `${index}-`.padEnd(64, 'x'),
      exclusive: true,
      timeout: 600_000,
    }));
    const calls = tools.map(({ name }, index) => toolCall(index, name));
    const result = await answered(tools, calls);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(8_192);
    if (result.kind !== 'answered') throw new Error('it is answered');
    expect(result.calls).toEqual(tools.map((_, index) => index));
    expect(new Set(result.tools.names).size).toBe(count);
  },
);
