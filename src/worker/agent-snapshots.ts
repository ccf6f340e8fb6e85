import type { ActivityDependencies } from '../activities/dependencies.ts';
import { factsOf, providerNamed, selectAgent } from '../config/configuration.ts';
import type { Configuration } from '../config/configuration.ts';
import { parseModelName } from '../models/model-name.ts';
import type { ToolRegistry } from '../tools/registry.ts';

/**
 * Freezes an agent's configuration for a turn. What the conversation set, its model, preset or
 * workspace, wins over the agent.
 * @throws ConfigurationError for an agent, preset, model or provider that is not configured here.
 */
export function createSnapshotSource(
  configuration: Configuration,
  tools: ToolRegistry,
): ActivityDependencies['snapshotFor'] {
  return async (agentName, settings) => {
    const agent = selectAgent(configuration, agentName, settings);
    const { policy } = agent;
    const summarizer = policy.summary.model ?? agent.model;
    for (const model of [agent.model, summarizer]) providerNamed(configuration, parseModelName(model).provider);
    const facts = factsOf(configuration, agent.model);
    const summarizerFacts = factsOf(configuration, summarizer);
    return {
      agent: agent.name,
      instructions: agent.instructions,
      rules: agent.rules,
      tools: tools.schemasFor(agent),
      model: agent.model,
      modelLimits: facts.limits,
      prices: facts.prices,
      summarizer: { model: summarizer, limits: summarizerFacts.limits, prices: summarizerFacts.prices },
      policy,
      limits: agent.limits,
      workspace: agent.workspace,
      allowCommands: agent.allowCommands,
    };
  };
}
