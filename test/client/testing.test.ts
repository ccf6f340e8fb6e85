import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/config/define-agent.ts';
import { startTestHoldfast } from '../../src/testing.ts';
import type { TestHoldfast } from '../../src/testing.ts';
import { defineTool } from '../../src/tools/define-tool.ts';

const convert = defineTool({
  name: 'convert_temperature',
  description: 'Converts degrees Celsius to degrees Fahrenheit.',
  input: z.object({ celsius: z.number() }),
  effect: 'none',
  run: async ({ celsius }) => ({ content: `${(celsius * 9) / 5 + 32} °F` }),
});

let running: TestHoldfast;

beforeAll(async () => {
  const agent = defineAgent({ name: 'thermometer', tools: [convert] });
  running = await startTestHoldfast({ agents: [agent], tools: [convert] });
});
afterAll(() => running.stop());

test('an own tool of an own agent runs beside a scripted model, without a stack or a key', async () => {
  const task = await running.holdfast.start('Call convert_temperature with {"celsius": 21}', { agent: 'thermometer' });
  expect(await task.result({ timeoutMilliseconds: 240_000 })).toMatchObject({ outcome: 'completed' });
  const { items } = await task.conversation.entries();
  expect(items.find(({ kind }) => kind === 'tool_result')?.content).toMatchObject([{ type: 'text', text: '69.8 °F' }]);
});
