/** What no schema can say: names that must exist, options that need each other, numbers that contradict each other. */
import type { Reducers } from '../../context/plan/reducers/built-in.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { didYouMean } from '../../tools/runtime/nearest-name.ts';
import { agentPolicyProblems } from './check-policies.ts';
import { requestProblems } from './check-request-options.ts';
import { fallbackProblems } from './check-fallbacks.ts';
import { toolProblems } from './check-tools.ts';
import { ownProviderProblems } from '../hosting.ts';
import type { McpServersOptions } from '../mcp-options.ts';
import { mcpProblems } from '../mcp-servers.ts';
import type { FoundProblem } from './describe-option-problem.ts';
import type { AgentOptions, ConfigurationOptions } from '../options/options.ts';
import { presetHint, type Presets } from '../presets.ts';
import { BUILT_IN_PROVIDER_NAMES, protocolOf } from '../providers.ts';

export interface Known {
  readonly presets: Presets;
  /** All tools of the worker; `undefined` when only a worker with tools of its own knows them. */
  readonly toolNames: readonly string[] | undefined;
  /** All reducers of the worker; `undefined` when only a worker with reducers of its own knows them. */
  readonly reducers: Reducers | undefined;
  readonly defaultModel: string;
  readonly mcpServers: McpServersOptions;
}

/** Everything that is wrong with options that fit the schema. Pure. */
export function checkConfiguration(options: ConfigurationOptions, known: Known): FoundProblem[] {
  const agents = Object.entries(options.agents ?? {});
  return [
    ...secretProblems(options),
    ...keyProblems(options),
    ...providerProblems(options),
    ...modelProblems(options),
    ...mcpProblems(known.mcpServers, options.agents ?? {}),
    ...agents.flatMap(([name, agent]) => fallbackProblems(name, agent, options, known.defaultModel)),
    ...agents.flatMap(([name, agent]) => presetProblems(name, agent, known.presets)),
    ...agents.flatMap(([name, agent]) => toolProblems(name, agent, known.toolNames)),
    ...agents.flatMap(([name, agent]) => agentPolicyProblems(name, agent, { ...known, models: options.models ?? {} })),
    ...agents.flatMap(([name, agent]) => wishProblems(name, agent, options, known)),
  ];
}

/** A key comes from one place; the clouds' own SDKs find theirs. */
function keyProblems({ providers }: ConfigurationOptions): FoundProblem[] {
  return Object.entries(providers ?? {}).flatMap(([name, provider]): FoundProblem[] => {
    const given = (['apiKeyVariable', 'apiKeyFile', 'apiKeyCommand'] as const).filter(
      (option) => provider[option] !== undefined,
    );
    const [first = '', second] = given;
    if (second !== undefined) {
      const message = `names a second place for the key, besides ${first}: keep one`;
      return [{ code: 'contradiction', path: ['providers', name, second], message }];
    }
    const isFoundByCloud = provider.hosting === 'bedrock' || provider.hosting === 'vertex';
    if (!isFoundByCloud || (first !== 'apiKeyFile' && first !== 'apiKeyCommand')) return [];
    const message = `has no effect: the SDK of ${provider.hosting} reads its own credentials`;
    return [{ code: 'contradiction', path: ['providers', name, first], message }];
  });
}

function secretProblems({ database, providers }: ConfigurationOptions): FoundProblem[] {
  const addresses: (readonly [readonly string[], string | undefined, string])[] = [
    [['database', 'url'], database?.url, 'Set DATABASE_URL instead'],
    [['database', 'listenUrl'], database?.listenUrl, 'Set DATABASE_LISTEN_URL instead'],
    ...Object.entries(providers ?? {}).map(
      ([name, { baseUrl }]) =>
        [['providers', name, 'baseUrl'], baseUrl, 'Name its variable with apiKeyVariable'] as const,
    ),
  ];
  return addresses.flatMap(([path, address, instead]) =>
    address !== undefined && /^[a-z]+:\/\/[^/@]*:[^/@]+@/i.test(address)
      ? [
          {
            code: 'secret_in_file' as const,
            path,
            message: `holds a password, which never stands in the file. ${instead}`,
          },
        ]
      : [],
  );
}

function providerProblems({ providers }: ConfigurationOptions): FoundProblem[] {
  return Object.entries(providers ?? {}).flatMap(([name, provider]) =>
    BUILT_IN_PROVIDER_NAMES.includes(name) ? [] : ownProviderProblems(name, provider),
  );
}

function modelProblems(options: ConfigurationOptions): FoundProblem[] {
  const known = [...BUILT_IN_PROVIDER_NAMES, ...Object.keys(options.providers ?? {})];
  const named: (readonly [readonly (string | number)[], string | null | undefined])[] = [
    [['defaultModel'], options.defaultModel],
    ...Object.keys(options.models ?? {}).map((name) => [['models', name], name] as const),
    ...Object.entries(options.agents ?? {}).flatMap(
      ([name, agent]) =>
        [
          [['agents', name, 'model'], agent.model],
          [['agents', name, 'policy', 'summary', 'model'], agent.policy?.summary?.model],
        ] as const,
    ),
    ...Object.entries(options.agents ?? {}).flatMap(([name, { fallbacks = [] }]) =>
      fallbacks.map((model, index) => [['agents', name, 'fallbacks', index], model] as const),
    ),
  ];
  return named.flatMap(([path, model]) => {
    if (model === undefined || model === null) return [];
    const provider = model.includes('/') ? parseModelName(model).provider : model;
    if (known.includes(provider)) return [];
    const message = `is ${JSON.stringify(model)}: there is no provider ${provider}${didYouMean(provider, known)} (there are: ${known.join(', ')})`;
    return [{ code: 'wrong_value' as const, path, message }];
  });
}

function presetProblems(name: string, { preset }: AgentOptions, presets: Presets): FoundProblem[] {
  if (preset === undefined || Object.hasOwn(presets, preset)) return [];
  const message = `is ${JSON.stringify(preset)}, which is no preset${presetHint(presets, preset)}`;
  return [{ code: 'wrong_value', path: ['agents', name, 'preset'], message }];
}

function wishProblems(name: string, agent: AgentOptions, options: ConfigurationOptions, known: Known): FoundProblem[] {
  const model = agent.model ?? known.defaultModel;
  if (agent.request === undefined || !model.includes('/')) return [];
  const { provider } = parseModelName(model);
  const protocol = protocolOf(provider, options.providers ?? {});
  return protocol === undefined ? [] : requestProblems(agent.request, { agent: name, provider, protocol });
}
