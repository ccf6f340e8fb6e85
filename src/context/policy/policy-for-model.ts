import { plainModelName } from './plain-model-name.ts';
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
