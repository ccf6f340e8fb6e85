import { dirname, resolve } from 'node:path';
import type { CompactionPolicyInput } from '../context/policy/policy.ts';
import type { Reducers } from '../context/plan/reducers/built-in.ts';
import { checkConfiguration } from './check/check-configuration.ts';
import { describeOptionProblems, valueAt } from './check/describe-option-problem.ts';
import type { Configuration } from './configuration.ts';
import { problemsIn, readConfigurationSource, requireNone } from './configuration-source.ts';
import { DEFAULT_AGENT } from './default-agent.ts';
import type { AgentDefinition } from './definitions.ts';
import { environmentProblems, given, type Environment } from './environment.ts';
import { configurationOptions, FORGET_AFTER_DAYS, type ConfigurationOptions } from './options/options.ts';
import { commandProblems, keyFiles } from './options/key-options.ts';
import type { McpServersInput } from './mcp-options.ts';
import { checkMcpServers, resolveMcpServers } from './mcp-servers.ts';
import { presetsWith, type Presets } from './presets.ts';
import { providerKeys, resolveProviders } from './providers.ts';
import { retentionRules } from './retention.ts';
import { resolveAgent } from './resolve-agent.ts';

/** Models that are used when a key for them is set and nothing else is said; the newest of the catalogue for agents. */
const ANTHROPIC_MODEL = 'anthropic/claude-opus-5-5';
const OPENAI_MODEL = 'openai/gpt-6.1-sol';
const SIMULATED_MODEL = 'simulator/sim-32k';

/** Addresses of a local stack that runs here; what the file and the environment say wins. */
export interface StackAddresses {
  readonly databaseUrl?: string | null;
  readonly simulatorUrl?: string | null;
}

export interface LoadOptions {
  /** Where `holdfast.yaml` is looked for, then in the folders above; without one, relative workspaces begin here. */
  readonly directory: string;
  readonly environment: Environment;
  readonly stack?: StackAddresses;
  /** All tools of the worker. Without it, unknown tool names are accepted unless they look like a slip. */
  readonly toolNames?: readonly string[];
  /** MCP servers given in code; they win over those of the file. */
  readonly mcpServers?: McpServersInput;
  /** Presets of your own, besides the built-in ones. */
  readonly presets?: readonly CompactionPolicyInput[];
  /** All reducers of the worker. Without it, unknown names are accepted unless they look like a slip. */
  readonly reducers?: Reducers;
}

/**
 * Reads `holdfast.yaml`, if there is one, and the environment. Everything is checked; defaults are filled in.
 * @throws ConfigurationError naming every problem with file, line and what is accepted.
 */
export function loadConfiguration(options: LoadOptions): Configuration {
  const { environment, stack = {}, toolNames, reducers } = options;
  const source = readConfigurationSource(environment, options.directory);
  const directory = source === null ? resolve(options.directory) : dirname(source.file);
  const presets = presetsWith(options.presets ?? []);
  // An empty file, or one with only comments, says nothing.
  const written = source?.yaml.value ?? {};
  const parsed = configurationOptions.safeParse(written);
  const file = parsed.data ?? {};
  const { providers = {}, models = {}, agents = {}, server = {} } = file;
  const simulatorUrl = given(environment, 'HOLDFAST_SIMULATOR_URL') ?? stack.simulatorUrl ?? null;
  const defaultModel = given(environment, 'HOLDFAST_MODEL') ?? file.defaultModel ?? modelForKeys(environment);
  const mcpServers = { ...file.mcpServers, ...checkMcpServers(options.mcpServers ?? {}) };
  // Names and numbers are checked once all options are what they should be: much would follow from a wrong one.
  const found = parsed.success
    ? [
        ...checkConfiguration(file, { presets, toolNames, reducers, defaultModel, mcpServers }),
        ...commandProblems(file, source?.otherWriters ?? null),
      ]
    : describeOptionProblems(parsed.error.issues, { value: written, below: [], options: configurationOptions });
  requireNone([...problemsIn(source, found), ...environmentProblems(environment)]);
  const secrets = [...providerKeys(providers, environment)];
  const onKey = (key: string): void => {
    if (!secrets.includes(key)) secrets.push(key);
  };
  const { available, unavailable } = resolveProviders(providers, environment, simulatorUrl, { directory, onKey });
  const modules = (file.modules ?? []).map((path) => resolve(directory, path));
  const stateFolder = given(environment, 'HOLDFAST_DIRECTORY');
  return {
    file: source?.file ?? null,
    providers: available,
    unavailableProviders: unavailable,
    modules,
    mcpServers: resolveMcpServers(mcpServers, environment, { directory, onKey }),
    defaultModel,
    models,
    server,
    forgetWindowsAfterDays: file.learnedWindows?.forgetAfterDays ?? FORGET_AFTER_DAYS,
    embeddings: file.embeddings ?? null,
    commandVariables: file.commandVariables ?? [],
    protectedPaths: [
      ...(source === null ? [] : [source.file]),
      ...modules,
      ...keyFiles(providers, directory),
      ...keyFiles(mcpServers, directory),
      ...databaseKeyFiles(file, environment, stack).map((path) => resolve(directory, path)),
      ...(stateFolder === undefined ? [] : [resolve(stateFolder)]),
    ],
    retention: retentionRules(file),
    timelineDays: file.retention?.timelineDays ?? null,
    tracesTexts: file.telemetry?.content ?? false,
    presets,
    agents: resolveAgents(file, { directory, presets, defaultModel }),
    agentOptions: agents,
    placeOf: (path) => (valueAt(written, path) === undefined ? undefined : source?.yaml.place(path)),
    secrets,
  };
}

/** Of the client's certificate. */
function databaseKeyFiles(
  { database }: ConfigurationOptions,
  environment: Environment,
  stack: StackAddresses,
): string[] {
  const url = given(environment, 'DATABASE_URL') ?? database?.url ?? stack.databaseUrl;
  const urls = [url, given(environment, 'DATABASE_LISTEN_URL'), database?.listenUrl];
  const named = urls.flatMap((each) => /[?&]sslkey=([^&]+)/u.exec(each ?? '')?.[1] ?? []);
  const variable = given(environment, 'PGSSLKEY');
  return [...named.map(decodeURIComponent), ...(variable === undefined ? [] : [variable])];
}

function modelForKeys(environment: Environment): string {
  if (given(environment, 'ANTHROPIC_API_KEY') !== undefined) return ANTHROPIC_MODEL;
  return given(environment, 'OPENAI_API_KEY') === undefined ? SIMULATED_MODEL : OPENAI_MODEL;
}

function resolveAgents(
  { agents = {}, models = {} }: ConfigurationOptions,
  {
    directory,
    presets,
    defaultModel,
  }: { readonly directory: string; readonly presets: Presets; readonly defaultModel: string },
): readonly AgentDefinition[] {
  const written = Object.hasOwn(agents, DEFAULT_AGENT.name) ? agents : { [DEFAULT_AGENT.name]: {}, ...agents };
  return Object.entries(written).map(([name, agent]) =>
    resolveAgent(
      { ...agent, model: agent.model ?? defaultModel },
      { name, workspace: resolve(directory, agent.workspace ?? '.'), presets, models },
    ),
  );
}
