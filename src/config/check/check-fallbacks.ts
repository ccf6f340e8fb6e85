import { modelFacts } from '../../models/catalogue/catalogue.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { modelOverrides, providerNamed } from '../configuration.ts';
import type { Configuration } from '../configuration.ts';
import type { FoundProblem } from './describe-option-problem.ts';
import { ConfigurationError } from '../errors.ts';
import type { AgentOptions, ConfigurationOptions } from '../options/options.ts';

/** Vendors all of whose models are in the catalogue; a server of one's own may have any. */
const CATALOGUED = new Set(['anthropic', 'openai']);

/**
 * Fallbacks that could never help: a model that stands before itself, and one whose window nobody knows, since the view
 * is made to fit it first. Pure.
 */
export function fallbackProblems(
  name: string,
  agent: AgentOptions,
  options: ConfigurationOptions,
  defaultModel: string,
): FoundProblem[] {
  const models = [agent.model ?? defaultModel, ...(agent.fallbacks ?? [])];
  return (agent.fallbacks ?? []).flatMap((model, index): FoundProblem[] => {
    const path = ['agents', name, 'fallbacks', index];
    const earlier = models.indexOf(model);
    if (earlier <= index) {
      const where = earlier === 0 ? "the agent's own model" : 'named before';
      return [{ code: 'contradiction', path, message: `is ${JSON.stringify(model)}, which is ${where}: leave it out` }];
    }
    if (!model.includes('/')) return [];
    const { provider } = parseModelName(model);
    const isCatalogued = CATALOGUED.has(provider) && options.providers?.[provider]?.baseUrl === undefined;
    if (!isCatalogued || modelFacts(model, modelOverrides(options.models ?? {})).known) return [];
    const message = `is ${JSON.stringify(model)}, a model that is not known here, and neither is its window; if it exists, give models.${model}.window`;
    return [{ code: 'wrong_value', path, message }];
  });
}

/** A fallback without a key would be found out when it is needed. @throws ConfigurationError naming agent, model and what is missing */
export function requireFallbacks(configuration: Configuration): void {
  for (const { name, fallbacks = [] } of configuration.agents) {
    for (const { model } of fallbacks) {
      try {
        providerNamed(configuration, parseModelName(model).provider);
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        const { code, message } = error;
        throw new ConfigurationError(code, `Agent ${name} cannot fall back to ${model}. ${message}`, { cause: error });
      }
    }
  }
}
