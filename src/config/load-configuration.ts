import { closeSync, existsSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CompactionPolicy } from '../context/policy.ts';
import { systemErrorCode } from '../tools/errors.ts';
import { checkConfiguration } from './check-configuration.ts';
import type { Configuration } from './configuration.ts';
import { DEFAULT_AGENT } from './default-agent.ts';
import type { AgentDefinition } from './definitions.ts';
import { optionPath, type FoundProblem } from './describe-option-problem.ts';
import { environmentProblems, given, type Environment } from './environment.ts';
import { ConfigurationError, invalidConfiguration, type ConfigurationProblem } from './errors.ts';
import { FORGET_AFTER_DAYS, type ConfigurationOptions } from './options.ts';
import { notFollowingFrom, parseOptions } from './parse-options.ts';
import { commandProblems, keyFiles, otherWritersOf } from './key-options.ts';
import { presetsWith, type Presets } from './presets.ts';
import { providerKeys, resolveProviders } from './providers.ts';
import { retentionRules } from './retention.ts';
import { resolveAgent } from './resolve-agent.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

const CONFIGURATION_FILE = 'holdfast.yaml';

/** Models that are used when a key for them is set and nothing else is said; the newest of the catalogue for agents. */
const ANTHROPIC_MODEL = 'anthropic/claude-opus-5-5';
const OPENAI_MODEL = 'openai/gpt-6.1-sol';
const SIMULATED_MODEL = 'simulator/sim-32k';

/** Addresses of a local stack that runs here; what the file and the environment say wins. */
export interface StackAddresses {
  readonly databaseUrl?: string | null;
  /** `host:port` */
  readonly temporalAddress?: string | null;
  readonly temporalNamespace?: string | null;
  readonly simulatorUrl?: string | null;
}

export interface LoadOptions {
  /** Where `holdfast.yaml` is looked for; relative workspaces begin here too. */
  readonly directory: string;
  readonly environment: Environment;
  readonly stack?: StackAddresses;
  /** All tools of the worker. Without it, unknown tool names are accepted unless they look like a slip. */
  readonly toolNames?: readonly string[];
  /** Presets of your own, besides the built-in ones. */
  readonly presets?: readonly CompactionPolicy[];
}

/**
 * Reads `holdfast.yaml`, if there is one, and the environment. Everything is checked; defaults are filled in.
 * @throws ConfigurationError naming every problem with file, line and what is accepted.
 */
export function loadConfiguration(options: LoadOptions): Configuration {
  const { environment, stack = {} } = options;
  const directory = resolve(options.directory);
  const presets = presetsWith(options.presets ?? []);
  const source = readSource(directory);
  // An empty file, or one with only comments, says nothing.
  const parsed = parseOptions(source?.yaml.value ?? {});
  const providers = parsed.value.providers ?? {};
  const simulatorUrl = given(environment, 'HOLDFAST_SIMULATOR_URL') ?? stack.simulatorUrl ?? null;
  const defaultModel = given(environment, 'HOLDFAST_MODEL') ?? parsed.value.defaultModel ?? modelForKeys(environment);
  const known = { presets, toolNames: options.toolNames, defaultModel };
  const contradictions = notFollowingFrom(parsed.problems, checkConfiguration(parsed.value, known));
  const found = [...parsed.problems, ...contradictions, ...commandProblems(providers, source?.otherWriters ?? null)];
  const problems = [...found.map((problem) => placed(problem, source)), ...environmentProblems(environment)];
  const all = [...(source?.yaml.problems ?? []), ...problems].sort(byPlace);
  if (all.length > 0) throw invalidConfiguration(all);
  const secrets = [...providerKeys(providers, environment)];
  const { available, unavailable } = resolveProviders(providers, environment, simulatorUrl, {
    directory,
    onKey: (key) => {
      if (!secrets.includes(key)) secrets.push(key);
    },
  });
  const { models = {}, agents = {} } = parsed.value;
  const stateFolder = given(environment, 'HOLDFAST_DIRECTORY');
  return {
    file: source?.file ?? null,
    databaseUrl: given(environment, 'DATABASE_URL') ?? parsed.value.database?.url ?? stack.databaseUrl ?? null,
    temporal: temporalOf(parsed.value, environment, stack),
    providers: available,
    unavailableProviders: unavailable,
    defaultModel,
    models,
    forgetWindowsAfterDays: parsed.value.learnedWindows?.forgetAfterDays ?? FORGET_AFTER_DAYS,
    embeddings: parsed.value.embeddings ?? null,
    commandVariables: parsed.value.commandVariables ?? [],
    protectedPaths: [
      ...(source === null ? [] : [source.file]),
      ...keyFiles(providers, directory),
      ...(stateFolder === undefined ? [] : [resolve(stateFolder)]),
    ],
    retention: retentionRules(parsed.value),
    presets,
    agents: resolveAgents(parsed.value, { directory, presets, defaultModel }),
    agentOptions: agents,
    workspacePlaces: workspacePlacesOf(agents, source),
    secrets,
  };
}

interface Source {
  readonly file: string;
  readonly yaml: YamlSource;
  /** Who else may write the file, in words; `null`: nobody but root and the user of this process. */
  readonly otherWriters: string | null;
}

function readSource(directory: string): Source | null {
  const file = join(directory, CONFIGURATION_FILE);
  try {
    const { text, stats } = readOnce(file);
    return { file, yaml: readYaml(text, CONFIGURATION_FILE), otherWriters: otherWritersOf(stats) };
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT') {
      refuseOtherName(directory);
      return null;
    }
    throw new ConfigurationError('configuration_unreadable', `${file} cannot be read (${code ?? String(error)}).`, {
      cause: error,
    });
  }
}

/** Owner and mode of the very file that is read, whatever is put in its place meanwhile. */
function readOnce(file: string): { readonly text: string; readonly stats: Stats } {
  const descriptor = openSync(file, 'r');
  try {
    return { stats: fstatSync(descriptor), text: readFileSync(descriptor, 'utf8') };
  } finally {
    closeSync(descriptor);
  }
}

/** A file that is overlooked because of its ending would leave its owner wondering why nothing of it is in force. */
function refuseOtherName(directory: string): void {
  const other = ['holdfast.yml', 'holdfast.json'].find((name) => existsSync(join(directory, name)));
  if (other === undefined) return;
  throw new ConfigurationError(
    'configuration_unreadable',
    `${join(directory, other)} is not read: Holdfast reads ${CONFIGURATION_FILE}. Rename it, or remove it.`,
  );
}

function placed({ code, path, message }: FoundProblem, source: Source | null): ConfigurationProblem {
  const option = optionPath(path);
  return { code, option, message, ...(source === null ? {} : { place: source.yaml.place(path) }) };
}

function workspacePlacesOf(
  agents: NonNullable<ConfigurationOptions['agents']>,
  source: Source | null,
): Configuration['workspacePlaces'] {
  const named = Object.entries(agents).filter(([, { workspace }]) => workspace !== undefined);
  return source === null
    ? {}
    : Object.fromEntries(named.map(([name]) => [name, source.yaml.place(['agents', name, 'workspace'])]));
}

function byPlace(a: ConfigurationProblem, b: ConfigurationProblem): number {
  return (
    (a.place?.line ?? Infinity) - (b.place?.line ?? Infinity) || (a.place?.column ?? 0) - (b.place?.column ?? 0) || 0
  );
}

function modelForKeys(environment: Environment): string {
  if (given(environment, 'ANTHROPIC_API_KEY') !== undefined) return ANTHROPIC_MODEL;
  return given(environment, 'OPENAI_API_KEY') === undefined ? SIMULATED_MODEL : OPENAI_MODEL;
}

function temporalOf(
  { temporal }: ConfigurationOptions,
  environment: Environment,
  stack: StackAddresses,
): Configuration['temporal'] {
  return {
    address: given(environment, 'TEMPORAL_ADDRESS') ?? temporal?.address ?? stack.temporalAddress ?? null,
    namespace: given(environment, 'TEMPORAL_NAMESPACE') ?? temporal?.namespace ?? stack.temporalNamespace ?? 'default',
  };
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
