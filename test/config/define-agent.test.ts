import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { withAgents } from '../../src/config/configuration.ts';
import { defineAgent } from '../../src/config/define-agent.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { load } from './support/written-configuration.ts';

const weather = defineTool({
  name: 'weather',
  description: 'The weather.',
  input: z.object({ city: z.string() }),
  effect: 'none',
  run: ({ city }) => Promise.resolve({ content: city }),
});

test('fills the defaults in', () => {
  expect(defineAgent({ name: 'mine', model: 'simulator/sim-32k' })).toMatchObject({
    name: 'mine',
    model: 'simulator/sim-32k',
    rules: [],
    allowCommands: false,
    policy: DEFAULT_POLICY,
    limits: { steps: 500, repeatedCalls: 10, compactionsWithoutProgress: 2, continuations: 3 },
    workspace: process.cwd(),
  });
});

test("an agent that names no model gets the worker's default", async () => {
  const configuration = await load('defaultModel: anthropic/claude-sonnet-5-5\n');
  const { agents } = withAgents(configuration, [defineAgent({ name: 'mine' })]);
  expect(agents.find(({ name }) => name === 'mine')?.model).toBe('anthropic/claude-sonnet-5-5');
});

test('takes tools or their names, a preset by name or as a policy, and changes of it', () => {
  const agent = defineAgent({
    name: 'mine',
    model: 'simulator/sim-32k',
    instructions: 'You tell the weather.',
    rules: ['Be brief.'],
    tools: [weather, 'read_file', 'run_command'],
    allowCommands: true,
    preset: { ...DEFAULT_POLICY, name: 'seventh' },
    policy: { trigger: { fraction: 0.5 } },
    limits: { steps: 3 },
    workspace: 'data',
  });
  expect(agent).toEqual({
    name: 'mine',
    model: 'simulator/sim-32k',
    instructions: 'You tell the weather.',
    rules: ['Be brief.'],
    tools: ['weather', 'read_file', 'run_command'],
    allowCommands: true,
    policy: { ...DEFAULT_POLICY, name: 'seventh', trigger: { fraction: 0.5, exact: true } },
    limits: {
      steps: 3,
      repeatedCalls: 10,
      compactionsWithoutProgress: 2,
      continuations: 3,
      spending: { turn: { steps: 3 }, conversation: {}, noteAt: 0.8 },
    },
    workspace: resolve('data'),
  });
});

test.each([
  [{ name: 'my agent' }, 'name of the agent is "my agent": it must be 1 to 64 letters'],
  [{ model: 'sim' }, 'agent mine: model is "sim": it must be provider/model'],
  [{ limits: { steps: 0 } }, 'agent mine: limits.steps is 0: it must be more than 0'],
  [{ tools: ['run_command'] }, 'agent mine: tools names run_command, which needs allowCommands: true'],
  [{ modle: 'x' }, 'agent mine: modle is not an option; did you mean model?'],
  [
    { policy: { summary: { turnPrefix: { prompt: { text: 'Write {{sections}}' } } } } },
    'agent mine: policy.summary.turnPrefix.sections is missing',
  ],
  [{ preset: 'defualt' }, 'There is no preset "defualt"; did you mean default?'],
  [{ preset: 'tickets' }, /There is no preset "tickets" \(there are: .*; an agent in code takes your own as a value\)/],
])('refuses %j by name', (change, message) => {
  expect(() => defineAgent({ name: 'mine', model: 'simulator/sim-32k', ...change })).toThrow(message);
});

test('fallbacks keep their order; one that repeats a model is refused', () => {
  const agent = defineAgent({ name: 'mine', model: 'simulator/sim-32k', fallbacks: ['a/b', 'simulator/sim-8k'] });
  expect(agent.fallbacks?.map(({ model }) => model)).toEqual(['a/b', 'simulator/sim-8k']);
  expect(() => defineAgent({ name: 'mine', model: 'a/b', fallbacks: ['a/b'] })).toThrow(
    'agent mine: fallbacks[0] is "a/b", which is the agent\'s own model: leave it out',
  );
});
