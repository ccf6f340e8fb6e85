import { expect, test } from 'vitest';
import { toolCountProblems } from '../../../src/config/check/check-tool-count.ts';
import { load } from '../support/written-configuration.ts';

test('a worker refuses an agent with more tools than OpenAI takes, also for a fallback, and no other', async () => {
  const text = `
providers:
  near: { protocol: chat, baseUrl: http://127.0.0.1:1 }
  vendor: { protocol: chat, baseUrl: https://api.openai.com/v1 }
agents:
  first: { model: near/one, fallbacks: [vendor/two] }
  second: { model: near/one }`;
  const configuration = await load(text);
  expect(toolCountProblems(configuration, () => 128)).toEqual([]);
  expect(toolCountProblems(configuration, () => 129)).toEqual([
    {
      code: 'too_many_tools',
      option: 'agents.first.tools',
      message: expect.stringContaining('are 129, and vendor/two takes at most 128'),
    },
  ]);
});

test('the doctor, which has no worker, counts the tools that an agent names', async () => {
  const tools = Array.from({ length: 129 }, (_, index) => `tool_${index}`).join(', ');
  const configuration = await load(`
providers:
  vendor: { protocol: chat, baseUrl: https://api.openai.com/v1 }
agents:
  first: { model: vendor/one, tools: [${tools}] }
  second: { model: vendor/one }`);
  expect(toolCountProblems(configuration)).toMatchObject([{ code: 'too_many_tools', option: 'agents.first.tools' }]);
});
