import type { Configuration } from '../configuration.ts';
import type { ConfigurationProblem } from '../errors.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { RUN_COMMAND } from '../../tools/runtime/names.ts';
import type { ProviderDefinition } from '../../models/provider.ts';

/** "A max of 128 functions are supported" (OpenAI's reference of `tools`; Azure serves the same API). */
const MOST_TOOLS_OF_OPENAI = 128;

/**
 * Agents with more tools than the provider of their model, or of a fallback, takes: every call would fail. Other servers have no cap that
 * is known. Pure.
 * @param countOf default: as many as the agent names, where no worker with its tools is at hand
 */
export function toolCountProblems(
  { agents, providers }: Pick<Configuration, 'agents' | 'providers'>,
  countOf: (agent: Configuration['agents'][number]) => number = namedCount,
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

function namedCount({ tools, allowCommands }: Configuration['agents'][number]): number {
  return tools.filter((name) => name !== RUN_COMMAND || allowCommands).length;
}

function isOpenAi({ baseUrl, hosting }: ProviderDefinition): boolean {
  if (hosting?.cloud === 'azure') return true;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return host === 'api.openai.com' || host.endsWith('.openai.azure.com');
}
