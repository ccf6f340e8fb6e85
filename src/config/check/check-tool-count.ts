import type { Configuration } from '../configuration.ts';
import { invalidConfiguration, type ConfigurationProblem } from '../errors.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { RUN_COMMAND } from '../../tools/runtime/names.ts';
import type { ProviderDefinition } from '../../models/provider.ts';

/** "A max of 128 functions are supported" (OpenAI's reference of `tools`; Azure serves the same API). */
const MOST_TOOLS_OF_OPENAI = 128;

/**
 * Refuses agents with more tools than the provider of their model, or of a fallback, takes: every call would fail. Other servers
 * have no cap that is known.
 * @throws ConfigurationError `configuration_invalid`, with a problem `too_many_tools` for each agent and model.
 */
export function requireToolCounts(
  configuration: Pick<Configuration, 'agents' | 'providers'>,
  tools: { readonly schemasFor: (agent: Configuration['agents'][number]) => readonly unknown[] },
): void {
  const problems = toolCountProblems(configuration, (agent) => tools.schemasFor(agent).length);
  if (problems.length > 0) throw invalidConfiguration(problems);
}

/** The same as problems, where no worker with its tools is at hand: an agent has what it names. */
export function namedToolCounts(configuration: Pick<Configuration, 'agents' | 'providers'>): ConfigurationProblem[] {
  return toolCountProblems(
    configuration,
    ({ tools, allowCommands }) => tools.filter((name) => name !== RUN_COMMAND || allowCommands).length,
  );
}

function toolCountProblems(
  { agents, providers }: Pick<Configuration, 'agents' | 'providers'>,
  countOf: (agent: Configuration['agents'][number]) => number,
): ConfigurationProblem[] {
  return agents.flatMap((agent): ConfigurationProblem[] => {
    const count = countOf(agent);
    if (count <= MOST_TOOLS_OF_OPENAI) return [];
    const models = [agent.model, ...(agent.fallbacks ?? []).map(({ model }) => model)];
    return [...new Set(models)].flatMap((model) => {
      const provider = providers.find(({ name }) => name === parseModelName(model).provider);
      if (provider === undefined || !isOpenAi(provider)) return [];
      const message = `are ${count}, and ${model} takes at most ${MOST_TOOLS_OF_OPENAI}: name fewer, or give some to another agent`;
      return [{ code: 'too_many_tools', option: `agents.${agent.name}.tools`, message }];
    });
  });
}

function isOpenAi({ baseUrl, hosting }: ProviderDefinition): boolean {
  if (hosting?.cloud === 'azure') return true;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return host === 'api.openai.com' || host.endsWith('.openai.azure.com');
}
