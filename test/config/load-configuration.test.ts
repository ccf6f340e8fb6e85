import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingToolProblems } from '../../src/config/check/check-tools.ts';
import { requireWorkspaces } from '../../src/config/check/check-workspaces.ts';
import { withAgents } from '../../src/config/configuration.ts';
import { defineAgent } from '../../src/config/define-agent.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { EXAMPLE } from './write-reference.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { BUILT_IN_TOOL_NAMES } from '../../src/tools/runtime/names.ts';
import { load, problemsOf, temporaryDirectory } from './support/written-configuration.ts';

describe('without a file', () => {
  test('there is one agent, default, with every built-in tool but run_command', async () => {
    const directory = await temporaryDirectory();
    const configuration = loadConfiguration({ directory, environment: {} });
    expect(configuration).toMatchObject({
      file: null,
      defaultModel: 'simulator/sim-32k',
      secrets: [],
      models: {},
      forgetWindowsAfterDays: 30,
      embeddings: null,
      commandVariables: [],
      protectedPaths: [],
      retention: [],
      timelineDays: null,
      tracesTexts: false,
    });
    expect(configuration.agents).toEqual([
      {
        name: 'default',
        model: 'simulator/sim-32k',
        instructions: expect.stringContaining('recall_search'),
        rules: [],
        tools: [
          'list_files',
          'read_file',
          'search_files',
          'write_file',
          'edit_file',
          'update_plan',
          'recall_search',
          'recall_open',
        ],
        allowCommands: false,
        policy: DEFAULT_POLICY,
        limits: {
          steps: 500,
          repeatedCalls: 10,
          compactionsWithoutProgress: 2,
          continuations: 3,
          // Near the 500 the model is told, although nobody set a limit.
          spending: { turn: { steps: 500 }, conversation: {}, noteAt: 0.8 },
        },
        workspace: directory,
      },
    ]);
  });

  test.each([
    [{ ANTHROPIC_API_KEY: 'sk-ant-0123456789' }, 'anthropic/claude-opus-5-5'],
    [{ OPENAI_API_KEY: 'sk-0123456789' }, 'openai/gpt-6.1-sol'],
    [{ OPENAI_API_KEY: 'sk-0123456789', ANTHROPIC_API_KEY: 'sk-ant-0123456789' }, 'anthropic/claude-opus-5-5'],
    [{ ANTHROPIC_API_KEY: '  ' }, 'simulator/sim-32k'],
    [{ ANTHROPIC_API_KEY: 'sk-ant-0123456789', HOLDFAST_MODEL: 'openai/gpt-6-sol' }, 'openai/gpt-6-sol'],
  ])('the model follows from what is set: %#', async (environment, model) => {
    expect((await load(null, { environment })).agents[0]?.model).toBe(model);
  });

  test('traces hold texts where telemetry.content says so', async () => {
    expect((await load('telemetry: { content: true }\n')).tracesTexts).toBe(true);
  });

  test('agents share options by a merge key; their own count', async () => {
    const { agents } = await load(
      'agents:\n  a: &shared { preset: pi, limits: { steps: 7 } }\n  b: { <<: *shared, limits: { steps: 8 } }\n',
    );
    expect(agents.slice(-2).map(({ policy, limits }) => [policy.name, limits.steps])).toEqual([
      ['pi', 7],
      ['pi', 8],
    ]);
  });

  test('an empty file, or one with comments only, says nothing', async () => {
    expect((await load('')).agents).toHaveLength(1);
    expect((await load('# nothing\n')).agents).toHaveLength(1);
  });
});

describe('what is in force', () => {
  test('an agent of the file stands beside default, with defaults filled in', async () => {
    const file = 'defaultModel: openai/gpt-6-sol\nagents:\n  reader:\n    rules: [Be brief.]\n    workspace: books\n';
    const configuration = await load(file);
    const [builtIn, reader] = configuration.agents;
    expect(builtIn).toMatchObject({ name: 'default', model: 'openai/gpt-6-sol' });
    const directory = builtIn?.workspace ?? '';
    expect(reader).toEqual({ ...builtIn, name: 'reader', rules: ['Be brief.'], workspace: join(directory, 'books') });
  });

  test('allowCommands brings run_command, unless the agent lists its tools', async () => {
    const { agents } = await load(
      'agents:\n  a: { allowCommands: true }\n  b: { allowCommands: true, tools: [read_file] }\n',
    );
    expect(agents.map((agent) => agent.tools.includes('run_command'))).toEqual([false, true, false]);
  });

  test('default itself can be changed', async () => {
    const { agents } = await load(
      'agents:\n  default: { limits: { steps: 7 }, tools: [read_file, run_command], allowCommands: true }\n',
    );
    expect(agents).toHaveLength(1);
    expect(agents[0]).toMatchObject({ limits: { steps: 7 }, tools: ['read_file', 'run_command'], allowCommands: true });
  });

  test('options of a model are under those of an agent, over the preset', async () => {
    const { agents } = await load(
      [
        'models:',
        '  simulator/sim-32k: { policy: { minimumGain: 0.05, trigger: { fraction: 0.7 } } }',
        'agents:',
        '  default: { policy: { trigger: { tokens: 20000 } } }',
      ].join('\n'),
    );
    expect(agents[0]?.policy).toMatchObject({
      minimumGain: 0.05,
      trigger: { tokens: 20_000, exact: true },
      target: DEFAULT_POLICY.target,
    });
  });

  test('the example of the documentation is a configuration', async () => {
    const configuration = await load(EXAMPLE, { environment: { LOCAL_MODEL_KEY: 'key-of-the-local-server' } });
    expect(configuration.agents.map((agent) => agent.name)).toEqual(['default', 'reviewer']);
    expect(configuration.providers).toContainEqual({
      name: 'local',
      protocol: 'chat',
      baseUrl: 'http://localhost:8000/v1',
      apiKey: 'key-of-the-local-server',
    });
    expect(configuration.secrets).toEqual(['key-of-the-local-server']);
  });

  test('tools of a worker’s own may be named; the worker’s list, if given, is strict', async () => {
    const file = 'agents: { default: { tools: [weather] } }';
    expect((await load(file)).agents[0]?.tools).toEqual(['weather']);
    expect((await load(file, { toolNames: ['weather'] })).agents[0]?.tools).toEqual(['weather']);
    const [problem] = await problemsOf(file, { toolNames: ['read_file'] });
    expect(problem).toBe(
      '1:30 agents.default.tools[0] is "weather", which is no tool (there are: read_file; your own come from modules or createWorker)',
    );
  });

  test('a preset from outside can be chosen', async () => {
    const presets = [{ ...DEFAULT_POLICY, name: 'seventh', minimumGain: 0.2 }];
    const { agents } = await load('agents: { default: { preset: seventh } }', { presets });
    expect(agents[0]?.policy).toMatchObject({ name: 'seventh', minimumGain: 0.2 });
    await expect(load(null, { presets: [DEFAULT_POLICY] })).rejects.toMatchObject({ code: 'preset_duplicate' });
  });
});

test('a tool or a folder that an agent of code names and a worker lacks is refused with the agent', async () => {
  const agent = defineAgent({ name: 'coded', model: 'simulator/sim-8k', tools: ['weather'], workspace: '/nowhere' });
  const configuration = withAgents(await load(null), [agent]);
  expect(missingToolProblems(configuration, [...BUILT_IN_TOOL_NAMES, 'wether'])).toMatchObject([
    {
      option: 'agent coded: tools[0]',
      message: expect.stringContaining('"weather", which is no tool; did you mean wether?'),
    },
  ]);
  expect(missingToolProblems(configuration, [...BUILT_IN_TOOL_NAMES, 'weather'])).toEqual([]);
  expect(() => requireWorkspaces(configuration)).toThrow('agent coded: workspace is "/nowhere", which is no folder');
  expect(() => requireWorkspaces(configuration, 'default')).not.toThrow();
});
