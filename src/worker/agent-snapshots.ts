import { arch, platform, release } from 'node:os';
import type { ActivityDependencies } from '../activities/runtime/dependencies.ts';
import { knownOptions } from '../config/check/check-request-options.ts';
import { factsOf, providerNamed, selectAgent } from '../config/configuration.ts';
import type { AgentChoice, Configuration } from '../config/configuration.ts';
import type { AgentDefinition } from '../config/definitions.ts';
import { ConfigurationError } from '../config/errors.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { policyForModel } from '../context/policy/budget.ts';
import type { ListedLimits, ModelFacts } from '../models/catalogue/catalogue.ts';
import { parseModelName } from '../models/catalogue/model-name.ts';
import { withLearnedLimits } from '../models/errors/learned-window.ts';
import type { LearnedLimits } from '../models/errors/learned-window.ts';
import type { ToolRegistry } from '../tools/runtime/registry.ts';
import type { AgentSnapshot, AssumedWindow, TurnRefusal, FallbackModel } from '../turn/agent-snapshot.ts';

/**
 * Freezes an agent's configuration for a turn. The conversation's own model, preset, workspace and user win over the agent's. If this
 * worker cannot run the agent, preset, model or provider, the snapshot says so, because a waiting turn would look like a hang.
 */
export function createSnapshotSource(
  configuration: Configuration,
  tools: ToolRegistry,
  readServerFacts: (model: string, conversationId: string) => Promise<ServerFacts | null> = async () => null,
): ActivityDependencies['snapshotFor'] {
  return async (agentName, settings, conversationId) => {
    const { agent, refusal } = usableAgent(configuration, agentName, settings);
    const assumed = new Map<string, AssumedWindow>();
    const factsFor = async (model: string): Promise<ModelFacts> => {
      // The name of a model that cannot be run may lack even a provider.
      const seen = refusal === null ? await readServerFacts(model, conversationId) : null;
      const facts = factsOf(configuration, model, seen?.listed ?? null);
      if (!facts.known && (seen?.learned.tokens ?? null) === null)
        assumed.set(model, { model, window: facts.limits.window });
      if (seen === null) return facts;
      return { ...facts, limits: { ...withLearnedLimits(facts.limits, seen.learned), server: seen.server } };
    };
    return {
      ...(await snapshotOf(configuration, tools, agent, factsFor)),
      agent: agentName,
      ...(agent.memory !== undefined && settings.user !== null && { memory: { ...agent.memory, user: settings.user } }),
      ...(assumed.size > 0 && { assumedWindows: [...assumed.values()] }),
      ...(refusal !== null && { refusal }),
    };
  };
}

/** What is known from a model's server. */
export interface ServerFacts {
  /** Base address, without credentials. */
  readonly server: string;
  /** What it listed about the model, if it was ever asked. */
  readonly listed: ListedLimits | null;
  /** What its errors named. They win. */
  readonly learned: LearnedLimits;
}

interface UsableAgent {
  readonly agent: AgentDefinition;
  readonly refusal: TurnRefusal | null;
}

/** The requested agent. With a refusal, the closest usable agent, for the record of the turn. */
function usableAgent(configuration: Configuration, name: string, choice: AgentChoice): UsableAgent {
  let agent: AgentDefinition | null = null;
  try {
    agent = selectAgent(configuration, name, choice);
    const summarizer = agent.policy.summary.model ?? agent.model;
    for (const model of [agent.model, summarizer]) providerNamed(configuration, parseModelName(model).provider);
    return { agent, refusal: null };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const outcome = error.code === 'agent_unknown' || error.code === 'preset_unknown' ? 'interrupted' : 'model_failed';
    return { agent: agent ?? someAgent(configuration), refusal: { outcome, reason: error.code } };
  }
}

function someAgent(configuration: Configuration): AgentDefinition {
  const [first] = configuration.agents;
  if (first === undefined) throw new ConfigurationError('agent_unknown', 'There is no agent at all.');
  return first;
}

type FactsFor = (model: string) => Promise<ModelFacts>;

async function snapshotOf(
  configuration: Configuration,
  tools: ToolRegistry,
  agent: AgentDefinition,
  factsFor: FactsFor,
): Promise<AgentSnapshot> {
  const model = await modelOf(agent, agent, factsFor);
  const { policy } = model;
  const fallbacks = (agent.fallbacks ?? []).filter((fallback) => fallback.model !== agent.model);
  return {
    agent: agent.name,
    instructions: agent.instructions,
    rules: agent.rules,
    tools: tools.schemasFor(agent),
    toolTraits: tools.traitsFor(agent),
    ...definedOf({ skills: agent.skills, variables: agent.variables, runtimeAdvice: policy.runtimeNote?.text }),
    ...(policy.namedBlocks && { namedBlocks: true, device: describeDevice() }),
    ...model,
    ...(fallbacks.length > 0 && {
      fallbacks: await Promise.all(
        fallbacks.map(async (fallback) =>
          Object.assign(await modelOf(agent, fallback, factsFor), requestOf(configuration, agent, fallback.model)),
        ),
      ),
    }),
    ...definedOf({ request: agent.request }),
    limits: agent.limits,
    ...definedOf({ approvals: agent.approvals, memory: agent.memory }),
    workspace: agent.workspace,
    allowCommands: agent.allowCommands,
  };
}

/** The part of a snapshot that depends on the model, the agent's own or a fallback. */
async function modelOf(
  { maximumOutput = Infinity }: AgentDefinition,
  { model, policy: written }: Pick<AgentDefinition, 'model' | 'policy'>,
  factsFor: FactsFor,
): Promise<Omit<FallbackModel, 'request'>> {
  const policy = policyForModel(written, model);
  const summarizer = policy.summary.model ?? model;
  const [{ limits, prices }, ofSummarizer] = await Promise.all([factsFor(model), factsFor(summarizer)]);
  return {
    model,
    modelLimits: { ...limits, maximumOutput: Math.min(limits.maximumOutput, maximumOutput) },
    prices,
    summarizer: { model: summarizer, limits: ofSummarizer.limits, prices: ofSummarizer.prices },
    policy,
  };
}

/** The agent's request options, without those that a fallback's vendor does not know. */
function requestOf(
  configuration: Configuration,
  { request }: AgentDefinition,
  model: string,
): Pick<FallbackModel, 'request'> {
  const { provider } = parseModelName(model);
  const protocol = configuration.providers.find((one) => one.name === provider)?.protocol;
  if (request === undefined || protocol === undefined) return {};
  const known = knownOptions(request, protocol);
  return Object.keys(known).length === 0 ? {} : { request: known };
}

/** System, locale and time zone of the machine that runs the tools, for the agent. */
function describeDevice(): string {
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return [`System: ${platform()} ${release()} (${arch()})`, `Locale: ${locale}`, `Time zone: ${timeZone}`].join('\n');
}
