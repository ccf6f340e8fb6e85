import type { CompactionPolicy } from './policy.ts';

/** However much a model may answer, half of its window stays for the conversation. */
const LARGEST_RESERVE = 0.5;

/**
 * The policy with the output reserve that its preset names for a model, by the longest beginning of
 * the vendor's name of the model; unchanged when it names none.
 *
 * @param model `provider/model`
 */
export function policyForModel(policy: CompactionPolicy, model: string): CompactionPolicy {
  const name = plainModelName(model.slice(model.indexOf('/') + 1));
  const fitting = Object.entries(policy.outputReserves).filter(([beginning]) => name.startsWith(beginning));
  const [best] = fitting.sort(([left], [right]) => right.length - left.length);
  if (best === undefined) return policy;
  return { ...policy, outputReserve: { tokens: best[1], fraction: LARGEST_RESERVE, of: 'window' } };
}

/**
 * The vendor's own name of a model that another server offers: without the folders of routers (`anthropic/claude-opus-4.6:beta`),
 * regions and vendors of Bedrock (`us.anthropic.claude-opus-4-6-20260101-v1:0`), dates of Vertex AI (`claude-opus-4-6@20260101`)
 * and days. Claude's versions are written with dashes.
 *
 * @param model without the provider
 */
export function plainModelName(model: string): string {
  const name = model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/[:@].*$/, '')
    .replace(/^(?:us-gov|us|eu|apac|au|ca|in|jp|global)\./, '')
    .replace(/^(?:anthropic|openai|google|xai|zai|moonshotai|moonshot|deepseek|mistral|qwen|amazon|meta)\./, '')
    .replace(/-v\d+$/, '')
    .replace(/-20\d\d-?\d\d-?\d\d$/, '');
  return name.startsWith('claude') ? name.replaceAll('.', '-') : name;
}
