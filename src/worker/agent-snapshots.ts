import type { ActivityDependencies } from '../activities/dependencies.ts';
import { factsOf, providerNamed, selectAgent } from '../config/configuration.ts';
import type { AgentChoice, Configuration } from '../config/configuration.ts';
import type { AgentDefinition } from '../config/definitions.ts';
import { ConfigurationError } from '../config/errors.ts';
import { definedOf } from '../context/defined-of.ts';
import { policyForModel } from '../context/policy-for-model.ts';
import type { ListedLimits } from '../models/catalogue.ts';
import { parseModelName } from '../models/model-name.ts';
import { describeDevice } from './describe-device.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { AgentSnapshot, TurnRefusal } from '../turn/agent-snapshot.ts';

/**
 * Freezes an agent's configuration for a turn. What the conversation set, its model, preset or
 * workspace, wins over the agent. An agent, preset, model or provider that this worker cannot run
 * gives a snapshot that says so: a turn that waited for another configuration would look like a hang.
 */
export function createSnapshotSource(
  configuration: Configuration,
  tools: ToolRegistry,
  listedLimits: ListedLimitsOf = async () => null,
): ActivityDependencies['snapshotFor'] {
  return async (agentName, settings) => {
    const { agent, refusal } = usableAgent(configuration, agentName, settings);
    const models = [agent.model, policyForModel(agent.policy, agent.model).summary.model ?? agent.model] as const;
    const listed = refusal === null ? await Promise.all(models.map(listedLimits)) : [];
    return {
      ...snapshotOf(configuration, tools, agent, listed),
      agent: agentName,
      ...(refusal !== null && { refusal }),
    };
  };
}

/** What a model's server lists of it, when it was ever asked. */
type ListedLimitsOf = (model: string) => Promise<ListedLimits | null>;

interface UsableAgent {
  readonly agent: AgentDefinition;
  readonly refusal: TurnRefusal | null;
}

/** The agent as asked for; with a refusal, what comes closest to it, for the record of the turn. */
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

function snapshotOf(
  configuration: Configuration,
  tools: ToolRegistry,
  agent: AgentDefinition,
  [listed = null, listedSummarizer = null]: readonly (ListedLimits | null)[],
): AgentSnapshot {
  const policy = policyForModel(agent.policy, agent.model);
  const summarizer = policy.summary.model ?? agent.model;
  const facts = factsOf(configuration, agent.model, listed);
  const summarizerFacts = factsOf(configuration, summarizer, listedSummarizer);
  return {
    agent: agent.name,
    instructions: agent.instructions,
    rules: agent.rules,
    tools: tools.schemasFor(agent),
    ...definedOf({ skills: agent.skills, variables: agent.variables, runtimeAdvice: policy.runtimeNote?.text }),
    ...(policy.namedBlocks === true && { namedBlocks: true, device: describeDevice() }),
    model: agent.model,
    modelLimits: {
      ...facts.limits,
      maximumOutput: Math.min(facts.limits.maximumOutput, agent.maximumOutput ?? Infinity),
    },
    prices: facts.prices,
    ...definedOf({ request: agent.request }),
    summarizer: { model: summarizer, limits: summarizerFacts.limits, prices: summarizerFacts.prices },
    policy,
    limits: agent.limits,
    ...definedOf({ approvals: agent.approvals, memory: agent.memory }),
    workspace: agent.workspace,
    allowCommands: agent.allowCommands,
  };
}
