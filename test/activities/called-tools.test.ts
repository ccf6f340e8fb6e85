import { z } from 'zod';
import { expect, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import type { ModelAnswer } from '../../src/models/model-client.ts';
import type { Database } from '../../src/store/database/database.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { ToolDefinition } from '../../src/tools/tool.ts';
import { toolSchema } from '../../src/tools/runtime/tool-schema.ts';
import { headOf, startTurn, toolCall, useTestStore } from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const tool = defineTool({
  name: 'act',
  description: 'Acts.',
  input: z.object({}),
  effect: 'none',
  run: () => Promise.resolve({ content: 'done' }),
});

/** What the workflow is told of the tools that an answer calls, by a worker that has these. */
async function calledBy(tools: readonly ToolDefinition[]) {
  const turn = await startTurn(sql, 'Act', { snapshot: { tools: [toolSchema(tool)] } });
  const content = [toolCall(0, 'act'), toolCall(1, 'invented')];
  const answer: ModelAnswer = { content, stopReason: 'tool_calls' };
  const dependencies = {
    ...activityDependencies(sql, { tools }),
    modelClient: () => ({ answer: () => Promise.resolve(answer) }),
  };
  const headEntryId = await headOf(sql, turn.conversationId);
  return callModel(dependencies, { turn, callNumber: 1, headEntryId }, execution({ attempt: 9 }));
}

test('a call of a tool that the worker of the answer lacks runs alone; one that it has, and one of no tool, beside others', async () => {
  const invented = { name: 'unknown_tool', exclusive: false };
  expect(await calledBy([tool])).toMatchObject({ tools: [{ name: 'act', exclusive: false }, invented] });
  expect(await calledBy([])).toMatchObject({ tools: [{ name: 'act', exclusive: true }, invented] });
});
