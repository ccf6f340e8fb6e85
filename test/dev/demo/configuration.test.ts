import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../src/config/configuration.ts';
import { factsOf, providerNamed } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { AGENT, configurationText, modelOf, requireKey } from '../../../dev/demo/configuration.ts';
import { parseOptions } from '../../../dev/demo/options.ts';
import type { DemoOptions } from '../../../dev/demo/options.ts';
import { BUILT_IN_TOOL_NAMES } from '../../../src/tools/runtime/names.ts';
import { JOB } from './support.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-demo-configuration-'));
});

afterEach(async () => rm(directory, { recursive: true, force: true }));

async function load(...flags: string[]): Promise<{ options: DemoOptions; configuration: Configuration }> {
  const options = parseOptions(flags);
  if (options === null) throw new Error('help');
  await writeFile(join(directory, 'holdfast.yaml'), configurationText(options, JOB));
  const configuration = loadConfiguration({ directory, environment: {}, toolNames: [...BUILT_IN_TOOL_NAMES] });
  return { options, configuration };
}

describe('configurationText', () => {
  it('is a configuration that Holdfast accepts, with the agent in a workspace of its own', async () => {
    const { options, configuration } = await load();
    const agent = configuration.agents.find(({ name }) => name === AGENT);
    expect(agent).toMatchObject({ model: modelOf(options), workspace: join(directory, 'workspace') });
    expect(agent?.tools).toContain('recall_search');
    expect(agent?.policy.enabled).toBe(true);
  });

  it('turns compaction, summaries and recall off', async () => {
    const { configuration } = await load('--without-compaction', '--without-recall');
    const agent = configuration.agents.find(({ name }) => name === AGENT);
    expect(agent?.policy.enabled).toBe(false);
    expect(agent?.tools.filter((tool) => tool.startsWith('recall_'))).toEqual([]);
    const { configuration: other } = await load('--without-summaries');
    expect(other.agents.find(({ name }) => name === AGENT)?.policy.summary.when).toBe('never');
  });

  it('puts the window that was asked for over a real model', async () => {
    const { configuration } = await load('--model', 'anthropic/claude-opus-5-5', '--window', '8k');
    expect(factsOf(configuration, 'anthropic/claude-opus-5-5').limits.window).toBe(8_192);
  });

  it('speaks Chat Completions with a server at an address, whatever its provider is called', async () => {
    const { configuration } = await load('--model', 'my-server/qwen3', '--base-url', 'http://localhost:8000/v1');
    expect(providerNamed(configuration, 'my-server')).toMatchObject({
      protocol: 'chat',
      baseUrl: 'http://localhost:8000/v1',
    });
  });
});

describe('requireKey', () => {
  it('asks for the key of a vendor by the name of its variable', () => {
    const options = { model: 'openai/gpt-6.1-sol', baseUrl: null };
    expect(() => requireKey(options, {})).toThrow('--model openai/gpt-6.1-sol needs a key');
    expect(() => requireKey(options, { OPENAI_API_KEY: 'key' })).not.toThrow();
    expect(() => requireKey({ ...options, baseUrl: 'http://localhost' }, {})).not.toThrow();
    expect(() => requireKey({ model: null, baseUrl: null }, {})).not.toThrow();
  });
});
