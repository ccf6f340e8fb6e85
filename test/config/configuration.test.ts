import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { problemsOfWorker } from '../../src/config/check/check-for-worker.ts';
import { factsOf, providerNamed, selectAgent, withAgents } from '../../src/config/configuration.ts';
import { defineAgent } from '../../src/config/define-agent.ts';
import { embedderOf } from '../../src/config/embeddings.ts';
import { loadConfiguration, type LoadOptions } from '../../src/config/load-configuration.ts';
import { readNamedServers } from '../../src/config/named-servers.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';

const OTHER = { ...DEFAULT_POLICY, name: 'other', minimumGain: 0.3 };

async function configurationOf(text: string, options: Partial<LoadOptions> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-config-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, 'holdfast.yaml'), text);
  return loadConfiguration({ directory, environment: {}, presets: [OTHER], ...options });
}

const FILE = `
models:
  simulator/sim-200k: { policy: { overflowRecoveries: 2 } }
agents:
  reader: { policy: { minimumGain: 0.05 }, rules: [Be brief.] }
`;

test('a module that is not there is named with its line', async () => {
  const [problem] = problemsOfWorker(await configurationOf('modules:\n  - missing.ts\n'));
  expect(problem).toMatchObject({
    option: 'modules[0]',
    message: expect.stringMatching(/^names ".*\/missing\.ts", which is not there/u),
    place: { file: 'holdfast.yaml', line: 2, column: 5 },
  });
});

test('an agent is selected as it is written', async () => {
  const configuration = await configurationOf(FILE);
  expect(selectAgent(configuration, 'reader')).toEqual(configuration.agents.find((agent) => agent.name === 'reader'));
});

test('another model brings the options of that model, another workspace and nothing else', async () => {
  const configuration = await configurationOf(FILE);
  const agent = selectAgent(configuration, 'reader', { model: 'simulator/sim-200k', workspace: '/elsewhere' });
  expect(agent).toMatchObject({ model: 'simulator/sim-200k', workspace: '/elsewhere', rules: ['Be brief.'] });
  expect(agent.policy).toMatchObject({ name: 'default', minimumGain: 0.05, overflowRecoveries: 2 });
});

test('another preset comes as it is, without the agent’s changes of its own', async () => {
  const configuration = await configurationOf(FILE);
  expect(selectAgent(configuration, 'reader', { preset: 'other' }).policy).toEqual(OTHER);
  expect(selectAgent(configuration, 'reader', { preset: 'default' }).policy.minimumGain).toBe(0.05);
  expect(selectAgent(configuration, 'default', { preset: 'other', model: 'simulator/sim-200k' }).policy).toEqual({
    ...OTHER,
    overflowRecoveries: 2,
  });
});

test('unknown agents, presets and models are named with what there is', async () => {
  const configuration = await configurationOf(FILE);
  expect(() => selectAgent(configuration, 'raeder')).toThrow(
    'There is no agent "raeder"; did you mean reader? (there are: default, reader)',
  );
  expect(() => selectAgent(configuration, 'reader', { preset: 'othr' })).toThrow(
    'There is no preset "othr"; did you mean other?',
  );
  expect(() => selectAgent(configuration, 'reader', { model: 'sim' })).toThrow(
    expect.objectContaining({ code: 'model_invalid' }),
  );
  expect(() => selectAgent(configuration, 'toString')).toThrow(expect.objectContaining({ code: 'agent_unknown' }));
  expect(() => selectAgent(configuration, 'reader', { preset: 'constructor' })).toThrow(
    expect.objectContaining({ code: 'preset_unknown' }),
  );
});

test('agents from code join those of the file, may replace default, and not another one', async () => {
  const configuration = await configurationOf(FILE);
  const mine = defineAgent({ name: 'mine', model: 'simulator/sim-8k', preset: OTHER, workspace: '/w' });
  const all = withAgents(configuration, [mine, defineAgent({ name: 'default', model: 'simulator/sim-8k' })]);
  expect(all.agents.map((agent) => agent.name)).toEqual(['reader', 'mine', 'default']);
  expect(selectAgent(all, 'mine', { model: 'simulator/sim-64k' })).toEqual({ ...mine, model: 'simulator/sim-64k' });
  expect(selectAgent(all, 'mine', { preset: 'default' })).toEqual({ ...mine, policy: DEFAULT_POLICY });
  expect(() => withAgents(configuration, [{ ...mine, name: 'reader' }])).toThrow('defined in code and in the file');
  expect(() => withAgents(configuration, [mine, mine])).toThrow('defined twice in code');
});

test('limits and prices of a model: the file over the table', async () => {
  const configuration = await configurationOf(
    'models: { anthropic/claude-opus-5-5: { window: 150000, prices: { input: 1, cacheRead: null } } }',
  );
  const { limits, prices } = factsOf(configuration, 'anthropic/claude-opus-5-5');
  expect(limits.window).toBe(150_000);
  expect(prices).toMatchObject({ input: 1, output: 20, cacheRead: null });
});

test('the simulator has the same windows behind each of its protocols', async () => {
  const configuration = await configurationOf('');
  for (const provider of ['simulator', 'simulator-chat', 'simulator-responses']) {
    expect(factsOf(configuration, `${provider}/sim-8k`)).toMatchObject({ known: true, limits: { window: 8_192 } });
  }
});

test('a provider without key or address says which variable to set', async () => {
  const configuration = await configurationOf(
    'providers: { mine: { protocol: chat, baseUrl: http://h/v1/, apiKeyVariable: MY_KEY } }',
  );
  expect(() => providerNamed(configuration, 'anthropic')).toThrow(
    'The provider anthropic has no key: set ANTHROPIC_API_KEY.',
  );
  expect(() => providerNamed(configuration, 'mine')).toThrow('has no key: set MY_KEY.');
  expect(() => providerNamed(configuration, 'simulator')).toThrow(
    'start `npx holdfast dev`, or set HOLDFAST_SIMULATOR_URL.',
  );
  expect(() => providerNamed(configuration, 'openai-compatible')).toThrow(
    'has no address: set HOLDFAST_COMPATIBLE_BASE_URL.',
  );
  expect(() => providerNamed(configuration, 'mistral')).toThrow('has no key: set MISTRAL_API_KEY.');
  expect(() => providerNamed(configuration, 'nobody')).toThrow(expect.objectContaining({ code: 'provider_unknown' }));
});

test('the time limits and the cloud of a provider reach its client', async () => {
  const configuration = await configurationOf(
    [
      'providers:',
      '  slow: { protocol: chat, baseUrl: http://h/v1, idleTimeoutSeconds: 120, totalTimeoutSeconds: 600 }',
      '  claude: { protocol: anthropic, hosting: vertex, region: us-east5, project: mine }',
    ].join('\n'),
  );
  expect(providerNamed(configuration, 'slow')).toMatchObject({
    idleTimeoutMilliseconds: 120_000,
    totalTimeoutMilliseconds: 600_000,
  });
  const { baseUrl, hosting } = providerNamed(configuration, 'claude');
  expect([baseUrl, hosting]).toEqual(['', { cloud: 'vertex', region: 'us-east5', project: 'mine' }]);
});

test('providers: addresses, protocols and keys come from where they should', async () => {
  const environment = {
    ANTHROPIC_API_KEY: 'sk-ant-0123456789',
    OPENAI_BASE_URL: 'http://proxy/v1/',
    HOLDFAST_COMPATIBLE_BASE_URL: 'http://vllm/v1',
    MY_KEY: 'my-key-0123456789',
  };
  const file =
    'providers:\n  mine: { protocol: chat, baseUrl: http://h/v1/, apiKeyVariable: MY_KEY }\n  free: { protocol: anthropic, baseUrl: http://f }\n';
  const { providers, secrets } = await configurationOf(file, {
    environment,
    stack: { simulatorUrl: 'http://127.0.0.1:4010/' },
  });
  expect(providers).toEqual([
    { name: 'anthropic', protocol: 'anthropic', baseUrl: 'https://api.anthropic.com', apiKey: 'sk-ant-0123456789' },
    { name: 'openai', protocol: 'responses', baseUrl: 'http://proxy/v1', apiKey: null },
    { name: 'openai-compatible', protocol: 'chat', baseUrl: 'http://vllm/v1', apiKey: null },
    { name: 'simulator', protocol: 'anthropic', baseUrl: 'http://127.0.0.1:4010', apiKey: null },
    { name: 'simulator-chat', protocol: 'chat', baseUrl: 'http://127.0.0.1:4010/v1', apiKey: null },
    { name: 'simulator-responses', protocol: 'responses', baseUrl: 'http://127.0.0.1:4010/v1', apiKey: null },
    { name: 'vllm', protocol: 'chat', baseUrl: 'http://127.0.0.1:8000/v1', apiKey: null },
    { name: 'llama.cpp', protocol: 'chat', baseUrl: 'http://127.0.0.1:8080/v1', apiKey: null },
    { name: 'ollama', protocol: 'chat', baseUrl: 'http://127.0.0.1:11434/v1', apiKey: null },
    { name: 'lm-studio', protocol: 'chat', baseUrl: 'http://127.0.0.1:1234/v1', apiKey: null },
    { name: 'mine', protocol: 'chat', baseUrl: 'http://h/v1', apiKey: 'my-key-0123456789' },
    { name: 'free', protocol: 'anthropic', baseUrl: 'http://f', apiKey: null },
  ]);
  expect(secrets.toSorted()).toEqual(['my-key-0123456789', 'sk-ant-0123456789']);
});

test('embeddings are made by a provider that has them, and one that has none is refused', async () => {
  const environment = { HOLDFAST_SIMULATOR_URL: 'http://127.0.0.1:1' };
  const of = async (model: string) =>
    embedderOf(await configurationOf(`embeddings: { model: ${model}, dimensions: 256 }`, { environment }));
  expect(await of('simulator-chat/bag')).toMatchObject({ model: 'simulator-chat/bag', dimensions: 256 });
  await expect(of('simulator/bag')).rejects.toThrow("speaks Anthropic's protocol: that has no embeddings");
  expect(embedderOf(await configurationOf('{}', { environment }))).toBeNull();
});

test('servers that the file names are used where the environment names none, with the namespace of that server', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-config-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file =
    'database: { url: postgres://db/agents, listenUrl: postgres://direct/agents }\ntemporal: { address: temporal:7233, namespace: agents }\n';
  await writeFile(join(directory, 'holdfast.yaml'), file);
  const named = (environment: Record<string, string>) => readNamedServers(environment, directory).environment;
  const ofFile = {
    DATABASE_URL: 'postgres://db/agents',
    DATABASE_LISTEN_URL: 'postgres://direct/agents',
    TEMPORAL_ADDRESS: 'temporal:7233',
    TEMPORAL_NAMESPACE: 'agents',
  };
  expect(named({})).toEqual(ofFile);
  const other = { DATABASE_URL: 'postgres://other/agents' };
  const { DATABASE_LISTEN_URL: _, ...rest } = ofFile;
  expect(named(other)).toEqual({ ...rest, ...other });
});
