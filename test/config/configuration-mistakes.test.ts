import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { problemsOf, temporaryDirectory } from './support/written-configuration.ts';

const MISTAKES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'an unknown option, with the near one',
    'agents:\n  reader:\n    modle: simulator/sim-8k\n',
    [
      '3:5 agents.reader.modle is not an option; did you mean model? (there are: model, fallbacks, instructions, rules, skills, variables, tools, mcp, allowCommands, approvals, preset, policy, request, output, limits, memory, workspace)',
    ],
  ],
  [
    'an option in another spelling',
    'agents:\n  reader:\n    allow_commands: true\n',
    [expect.stringContaining('3:5 agents.reader.allow_commands is not an option; did you mean allowCommands?')],
  ],
  [
    'an unknown section',
    'agents: {}\nprovider: {}\n',
    [
      '2:1 provider is not an option; did you mean providers? (there are: defaultModel, agents, providers, models, mcpServers, modules, learnedWindows, embeddings, commandVariables, retention, server, telemetry, database, temporal)',
    ],
  ],
  [
    'a number that is a text',
    'agents:\n  a:\n    limits:\n      steps: many\n',
    ['4:7 agents.a.limits.steps is "many": it must be a number'],
  ],
  [
    'a number with underscores',
    'models:\n  a/b: { window: 32_000 }\nproviders: { a: { protocol: chat, baseUrl: http://h } }',
    ['2:10 models.a/b.window is "32_000": it must be a number'],
  ],
  [
    'a negative number',
    'agents: { a: { limits: { steps: -1 } } }',
    ['1:26 agents.a.limits.steps is -1: it must be more than 0'],
  ],
  [
    'a cloud without what it needs, and with a protocol that it does not speak',
    'providers:\n  az: { protocol: anthropic, hosting: azure }\n  br: { protocol: anthropic, hosting: bedrock }\n',
    [
      '2:3 providers.az.baseUrl is missing: hosting: azure needs it',
      '2:3 providers.az.apiVersion is missing: hosting: azure needs it',
      '2:9 providers.az.protocol is anthropic: models on azure speak chat or responses',
      '3:3 providers.br.region is missing: hosting: bedrock needs it',
    ],
  ],
  [
    'wishes that the protocol of the model does not have',
    'agents:\n  a:\n    model: openai/gpt-6\n    request: { thinkingBudget: 4096, temperature: 1, stopSequences: [x], serviceTier: standard_only }\n',
    [
      '4:16 agents.a.request.thinkingBudget is not known to openai (responses): use reasoningEffort',
      '4:38 agents.a.request.temperature cannot be set together with thinkingBudget: Anthropic refuses both in one call',
      '4:54 agents.a.request.stopSequences are not known to openai (responses): its API has none',
      '4:74 agents.a.request.serviceTier is standard_only: openai (responses) knows auto, default, flex, scale, priority',
    ],
  ],
  [
    'a fraction over 1',
    'agents:\n  a:\n    policy:\n      trigger: { fraction: 85 }\n',
    ['4:18 agents.a.policy.trigger.fraction is 85: it must be at most 1'],
  ],
  [
    'an amount without a number',
    'agents: { a: { policy: { trigger: { of: window } } } }',
    ['1:26 agents.a.policy.trigger needs tokens, fraction or both'],
  ],
  [
    'a list that is a text',
    'agents: { a: { rules: Be brief. } }',
    ['1:16 agents.a.rules is "Be brief.": it must be a list'],
  ],
  [
    'a model of a provider that is wrong itself, once',
    'providers: { mine: 5 }\nagents: { a: { model: mine/x } }',
    [expect.stringContaining('1:14 providers.mine is 5: it must be a map of options (there are: protocol, ')],
  ],
  ['an empty option', 'agents:\n  a:\n    tools:\n', ['3:5 agents.a.tools is empty: it must be a list']],
  ['a file that is no map', '- a\n- b\n', [expect.stringContaining('1:1  must be a map of options (there are: ')]],
  [
    'a list without entries and a negative amount of tokens',
    'agents: { a: { policy: { summary: { sections: [] }, target: { tokens: -3 } } } }',
    [
      '1:37 agents.a.policy.summary.sections must have at least 1',
      '1:63 agents.a.policy.target.tokens is -3: it must be at least 0',
    ],
  ],
  [
    'an amount, a prompt and a map in another form',
    'agents:\n  a:\n    policy:\n      trigger: 0.5\n      keep: 5\n      summary: { prompts: { history: Write. } }',
    [
      '4:7 agents.a.policy.trigger is 0.5: it must be a map of options, such as { fraction: 0.5 } or { tokens: 20000 }',
      expect.stringContaining('5:7 agents.a.policy.keep is 5: it must be a map of options (there are: tail, '),
      expect.stringContaining("it must be a map of options, such as { text: 'Summarize …' }"),
    ],
  ],
  [
    'a wrong word',
    'providers:\n  p:\n    protocol: anthropc\n    baseUrl: http://h\n',
    ['3:5 providers.p.protocol is "anthropc": it must be one of anthropic, chat, responses; did you mean anthropic?'],
  ],
  [
    'a provider without address',
    'providers:\n  p:\n    protocol: chat\n',
    ['2:3 providers.p.baseUrl is missing: a provider of your own needs protocol and baseUrl'],
  ],
  [
    'an address that is none',
    'providers: { p: { protocol: chat, baseUrl: localhost } }',
    ['1:35 providers.p.baseUrl is "localhost": it must be an http or https address'],
  ],
  [
    'a model without provider',
    'agents: { a: { model: gpt-6-sol } }',
    ['1:16 agents.a.model is "gpt-6-sol": it must be provider/model, like simulator/sim-32k'],
  ],
  [
    'an unknown provider',
    'agents: { a: { model: antropic/x } }',
    [
      expect.stringContaining(
        '1:16 agents.a.model is "antropic/x": there is no provider antropic; did you mean anthropic?',
      ),
    ],
  ],
  [
    'an unknown preset',
    'agents: { a: { preset: defualt } }',
    [
      `1:16 agents.a.preset is "defualt", which is no preset; did you mean default? (there are: ${Object.keys(PRESETS).join(', ')}; an agent in code takes your own as a value)`,
    ],
  ],
  [
    'a tool in a slip',
    'agents: { a: { tools: [read_file, raed_file] } }',
    [expect.stringContaining('1:35 agents.a.tools[1] is "raed_file", which is no tool; did you mean read_file?')],
  ],
  [
    'run_command without being allowed',
    'agents:\n  a:\n    tools: [run_command]\n',
    [expect.stringContaining('3:13 agents.a.tools[0] names run_command, which needs allowCommands: true')],
  ],
  [
    'a bad name of an agent',
    'agents:\n  my agent: {}\n',
    ['2:3 agents.my agent is not a valid name: it must be 1 to 64 letters, digits, "_" or "-"'],
  ],
  [
    'a reducer of true',
    'agents: { a: { policy: { reduce: { clip: true } } } }',
    ['1:36 agents.a.policy.reduce.clip is true: it must be false or a map of options'],
  ],
  [
    'an unknown option of a reducer',
    'agents: { a: { policy: { reduce: { clip: { headLimt: 5 } } } } }',
    [expect.stringContaining('1:44 agents.a.policy.reduce.clip.headLimt is not an option; did you mean headLimit?')],
  ],
  ['broken YAML', 'agents:\n  a: [b\n', [expect.stringMatching(/^3:1 {2}is not valid YAML: /)]],
  [
    'an option given twice',
    'agents: {}\nagents: {}\n',
    [expect.stringContaining('2:1  is not valid YAML: Map keys must be unique')],
  ],
  ['a tab for indentation', 'agents:\n\ta: {}\n', [expect.stringMatching(/^2:\d+ {2}is not valid YAML: /)]],
];

describe('mistakes are named with line, column and what is accepted', () => {
  test.each(MISTAKES)('%s', async (_, text, expected) => {
    expect((await problemsOf(text)).slice(0, expected.length)).toEqual(expected);
  });

  test('all of them at once, in the order of the file', async () => {
    const problems = await problemsOf('agents:\n  a: { modl: x, preset: 5 }\ndatabas: {}\n', {
      environment: { OPENAI_BASE_URL: 'x' },
    });
    expect(problems.map((problem) => problem.split(' ').slice(0, 2).join(' '))).toEqual([
      '2:8 agents.a.modl',
      '2:17 agents.a.preset',
      '3:1 databas',
      'OPENAI_BASE_URL in',
    ]);
  });

  test('through an alias, where the value is', async () => {
    const problems = await problemsOf('agents:\n  a: &shared\n    limits: { steps: 0 }\n  b: *shared\n');
    expect(problems.map((problem) => problem.split(' ')[1])).toEqual([
      'agents.a.limits.steps',
      'agents.b.limits.steps',
    ]);
    expect(problems.every((problem) => problem.startsWith('3:'))).toBe(true);
  });

  test.each([
    ['<<: *shared', 3],
    ['<<: [*shared, { preset: pi }]', 3],
    ['<<: *shared\n    limits: { steps: 0 }', 6],
  ])('through a merged map, where the value is: %s', async (merged, line) => {
    const written = `agents:\n  a: &shared\n    limits: { steps: ${line === 3 ? 0 : 1} }\n  b:\n    ${merged}\n`;
    const problems = await problemsOf(written);
    expect(problems.at(-1)).toMatch(new RegExp(`^${line}:.*agents\\.b\\.limits\\.steps`, 'u'));
  });

  test('a file with another ending is not overlooked in silence', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'holdfast.yml'), 'agents: {}');
    expect(() => loadConfiguration({ directory, environment: {} })).toThrow('Holdfast reads holdfast.yaml. Rename it');
  });

  test('a file that cannot be read is named', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'holdfast.yaml'));
    const attempt = () => loadConfiguration({ directory, environment: {} });
    expect(attempt).toThrow(
      expect.objectContaining({ code: 'configuration_unreadable', message: expect.stringContaining('EISDIR') }),
    );
  });
});

describe('keys and passwords', () => {
  test('never stand in the file, and are not repeated in the message', async () => {
    const text = [
      'providers:',
      '  p: { protocol: chat, baseUrl: "http://user:planted@host/v1", apiKey: sk-planted }',
      '  q: { protocol: chat, baseUrl: http://h, apiKeyVariable: sk-planted-key }',
    ].join('\n');
    const problems = await problemsOf(text);
    expect(problems).toEqual([
      expect.stringContaining('2:64 providers.p.apiKey is refused: keys never stand in the file.'),
      '3:43 providers.q.apiKeyVariable must be the name of an environment variable, not its value',
    ]);
    const passwords = [
      'database: { url: "postgres://user:planted@host/db" }',
      'providers: { p: { protocol: chat, baseUrl: "http://u:planted@h" } }',
    ];
    for (const password of passwords) {
      const [problem = ''] = await problemsOf(password);
      expect(problem).toContain('holds a password');
      expect(problem).not.toContain('planted');
    }
    const malformed = await problemsOf('database: { url: "mysql://user:planted@host/db" }');
    expect(malformed).toEqual(['1:13 database.url must begin with postgres://']);
  });

  test('a wrong address in the environment is named by its variable, without a value that may hold a password', async () => {
    const problems = await problemsOf(null, {
      environment: {
        DATABASE_URL: 'mysql://user:planted@host',
        ANTHROPIC_BASE_URL: 'localhost:80',
        TEMPORAL_ADDRESS: 'host',
      },
    });
    expect(problems).toEqual([
      'ANTHROPIC_BASE_URL in the environment must be an http or https address (it is "localhost:80")',
      'DATABASE_URL in the environment must be an address that begins with postgres://',
      'TEMPORAL_ADDRESS in the environment must be host:port (it is "host")',
    ]);
  });
});
