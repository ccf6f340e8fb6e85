import { definedOf } from '../context/policy/defined-of.ts';
import { modelFacts, type ListedLimits, type ModelFacts, type ModelOverride } from '../models/catalogue/catalogue.ts';
import { parseModelName } from '../models/catalogue/model-name.ts';
import { didYouMean } from '../tools/runtime/nearest-name.ts';
import type { EmbeddingModel } from '../models/embedder.ts';
import type { ProviderDefinition } from '../models/provider.ts';
import type { McpServer } from '../tools/mcp/transport.ts';
import type { AgentDefinition, DefinedAgent } from './definitions.ts';
import { ConfigurationError, type ConfigurationProblem } from './errors.ts';
import type { AgentOptions, ModelOptions } from './options/options.ts';
import type { ServerSettings } from './options/server-options.ts';
import { presetNamed, type Presets } from './presets.ts';
import type { UnavailableProvider } from './providers.ts';
import type { RetentionRule } from './retention.ts';
import { resolveAgent } from './resolve-agent.ts';

/** Everything that Holdfast is told by `holdfast.yaml`, the environment and the local stack; all defaults filled in. */
export interface Configuration {
  /** Absolute path of the file that was read; `null` without one. */
  readonly file: string | null;
  /** Providers that can be used here. */
  readonly providers: readonly ProviderDefinition[];
  readonly unavailableProviders: readonly UnavailableProvider[];
  /** Absolute paths of files whose exported agents and tools a worker serves. */
  readonly modules: readonly string[];
  /** MCP servers that agents may use. */
  readonly mcpServers: readonly McpServer[];
  /** Model of every agent that names none. */
  readonly defaultModel: string;
  readonly models: Readonly<Record<string, ModelOptions>>;
  /** Days for which a window that an error named is believed. */
  readonly forgetWindowsAfterDays: number;
  /** What vectors are made with; `null`: search goes by words alone. */
  readonly embeddings: EmbeddingModel | null;
  /** Absolute paths that file tools keep away from: the file, files with keys, and the state folder that the environment names. */
  readonly protectedPaths: readonly string[];
  /** Names of variables of the worker's environment that commands get besides those that all get. */
  readonly commandVariables: readonly string[];
  /** What upkeep deletes; empty: nothing. */
  readonly retention: readonly RetentionRule[];
  /** Days for which timelines of ended turns are kept; `null`: as long as their conversations. */
  readonly timelineDays: number | null;
  /** What `holdfast server` allows. */
  readonly server: ServerSettings;
  /** Whether traces hold texts of conversations. */
  readonly tracesTexts: boolean;
  readonly presets: Presets;
  readonly agents: readonly AgentDefinition[];
  /** Agents of the file as they were written, to put another model or preset under them. */
  readonly agentOptions: Readonly<Record<string, AgentOptions>>;
  /** Where the file names an option; `undefined` where it does not. */
  readonly placeOf: (path: readonly PropertyKey[]) => ConfigurationProblem['place'];
  /**
   * Values of provider keys, to be masked wherever text is stored or shown. Grows when a key is read from a file or a
   * command; a key that was replaced stays in it, since it may still stand in some file.
   */
  readonly secrets: readonly string[];
}

/** What a conversation sets instead of its agent's own. */
export interface AgentChoice {
  /** `provider/model`. */
  readonly model?: string | null;
  /** The agent's own changes of its preset do not apply to another one. */
  readonly preset?: string | null;
  /** Absolute path. */
  readonly workspace?: string | null;
}

/** @throws ConfigurationError `agent_unknown`, `preset_unknown` or `model_invalid`. */
export function selectAgent(configuration: Configuration, name: string, choice: AgentChoice = {}): AgentDefinition {
  const agent = configuration.agents.find((one) => one.name === name);
  if (agent === undefined) {
    const names = configuration.agents.map((each) => each.name);
    throw unknownAgent(name, names);
  }
  const model = choice.model ?? agent.model;
  checkModelName(model);
  const { presets } = configuration;
  if (choice.preset !== undefined && choice.preset !== null) presetNamed(presets, choice.preset);
  const options = configuration.agentOptions[name];
  const workspace = choice.workspace ?? agent.workspace;
  const otherPreset = choice.preset !== undefined && choice.preset !== null && choice.preset !== agent.policy.name;
  // An agent defined in code has no options to put over another preset or model: its policy is as it was given.
  if (options === undefined && !otherPreset) return { ...agent, model, workspace };
  const { policy, preset, ...rest } = options ?? { fallbacks: agent.fallbacks?.map((one) => one.model) };
  const written = otherPreset ? { preset: choice.preset ?? undefined } : { policy, preset };
  const resolved = resolveAgent(
    { ...rest, ...written, model },
    { name, workspace, presets, models: configuration.models },
  );
  return options === undefined ? { ...agent, ...resolvedPolicies(resolved), model, workspace } : resolved;
}

function resolvedPolicies({ policy, fallbacks }: AgentDefinition): Pick<AgentDefinition, 'policy' | 'fallbacks'> {
  return { policy, ...definedOf({ fallbacks }) };
}

/** Adds agents that were defined in code, with the default model where they name none. @throws ConfigurationError `agent_duplicate` */
export function withAgents(configuration: Configuration, agents: readonly DefinedAgent[]): Configuration {
  const inFile = (name: string): boolean => Object.hasOwn(configuration.agentOptions, name);
  const seen = new Set<string>();
  for (const { name } of agents) {
    if (seen.has(name) || inFile(name)) {
      const where = inFile(name) ? 'in code and in the file' : 'twice in code';
      throw new ConfigurationError('agent_duplicate', `The agent ${name} is defined ${where}: rename one.`);
    }
    seen.add(name);
  }
  // The built-in agent `default` gives way to one from code.
  const kept = configuration.agents.filter((agent) => !seen.has(agent.name));
  const { defaultModel } = configuration;
  const added = agents.map((agent) => Object.assign({}, agent, { model: agent.model ?? defaultModel }));
  return { ...configuration, agents: [...kept, ...added] };
}

/** Base address of a provider's server, without credentials; the name for one that is not configured here. */
export function serverOf(configuration: Pick<Configuration, 'providers'>, name: string): string {
  const provider = configuration.providers.find((one) => one.name === name);
  return provider === undefined || provider.baseUrl === ''
    ? name
    : provider.baseUrl.replace(/(?<=\/\/)[^/@]*@/, '').replace(/[?#].*$/, '');
}

/** @throws ConfigurationError saying which variable to set. */
export function providerNamed(configuration: Configuration, name: string): ProviderDefinition {
  const provider = configuration.providers.find((one) => one.name === name);
  if (provider !== undefined) return provider;
  const unavailable = configuration.unavailableProviders.find((one) => one.name === name);
  if (unavailable === undefined) {
    const names = configuration.providers.map((one) => one.name);
    throw new ConfigurationError(
      'provider_unknown',
      `There is no provider ${JSON.stringify(name)}${didYouMean(name, names)} (there are: ${names.join(', ')}). Others are named under "providers" in holdfast.yaml.`,
    );
  }
  if (unavailable.reason === 'key_missing') {
    throw new ConfigurationError(
      'provider_key_missing',
      `The provider ${name} has no key: set ${unavailable.variable}.`,
    );
  }
  const simulator = name.startsWith('simulator') ? 'start `npx holdfast dev`, or ' : '';
  throw new ConfigurationError(
    'provider_address_missing',
    `The provider ${name} has no address: ${simulator}set ${unavailable.variable}.`,
  );
}

/** Limits and prices of a model as configured; what its server lists counts more than what is built in. @throws ConfigurationError `model_invalid` */
export function factsOf(
  configuration: Pick<Configuration, 'models'>,
  model: string,
  listed: ListedLimits | null = null,
): ModelFacts {
  checkModelName(model);
  return modelFacts(model, modelOverrides(configuration.models), listed);
}

/** The options of models in the catalogue's form. */
export function modelOverrides(models: Readonly<Record<string, ModelOptions>>): Record<string, ModelOverride> {
  return Object.fromEntries(
    Object.entries(models).map(([name, { window, maximumInput, maximumOutput, prices }]) => [
      name,
      definedOf({ window, maximumInput, maximumOutput, prices: prices && definedOf(prices) }),
    ]),
  );
}

function checkModelName(name: string): void {
  try {
    parseModelName(name);
  } catch (error) {
    throw new ConfigurationError('model_invalid', error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}

/** @param names of the agents that there are */
export function unknownAgent(name: string, names: readonly string[]): ConfigurationError {
  return new ConfigurationError(
    'agent_unknown',
    `There is no agent ${JSON.stringify(name)}${didYouMean(name, names)} (there are: ${[...new Set(names)].join(', ')})`,
  );
}
