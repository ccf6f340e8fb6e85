import type { ProtocolName } from '../../models/provider.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { RequestOptions } from '../../turn/agent-snapshot.ts';
import type { FoundProblem } from './describe-option-problem.ts';
import type { RequestSettings } from '../options/call-options.ts';

/** The wishes that a protocol has; for a model of another vendor than the one they were written for. Pure. */
export function knownOptions(request: RequestOptions, protocol: ProtocolName): RequestOptions {
  const asked: RequestSettings = definedOf({ ...request, stopSequences: request.stopSequences?.slice() });
  const problems = requestProblems(asked, { agent: '', provider: '', protocol });
  const refused = new Set(problems.map(({ path }) => path.at(-1)));
  return Object.fromEntries(Object.entries(request).filter(([option]) => !refused.has(option)));
}

/** Wishes that the protocol of the agent's own provider does not have, or that exclude each other. Pure. */
export function requestProblems(
  request: RequestSettings,
  { agent, provider, protocol }: { readonly agent: string; readonly provider: string; readonly protocol: ProtocolName },
): FoundProblem[] {
  const problem = (option: keyof RequestSettings, message: string): FoundProblem => ({
    code: 'contradiction',
    path: ['agents', agent, 'request', option],
    message,
  });
  const { thinkingBudget, temperature, stopSequences, serviceTier, reasoningEffort, citations } = request;
  const found: FoundProblem[] = [];
  if (thinkingBudget !== undefined && protocol !== 'anthropic') {
    found.push(problem('thinkingBudget', `is not known to ${provider} (${protocol}): use reasoningEffort`));
  }
  if (thinkingBudget !== undefined && temperature !== undefined) {
    found.push(
      problem('temperature', 'cannot be set together with thinkingBudget: Anthropic refuses both in one call'),
    );
  }
  if (thinkingBudget !== undefined && reasoningEffort === 'none') {
    found.push(problem('thinkingBudget', 'contradicts reasoningEffort: none, which switches thinking off'));
  }
  if (stopSequences !== undefined && protocol === 'responses') {
    found.push(problem('stopSequences', `are not known to ${provider} (responses): its API has none`));
  }
  if (citations === true && protocol !== 'anthropic') {
    found.push(problem('citations', `are not known to ${provider} (${protocol}): only Anthropic cites documents`));
  }
  const known = protocol === 'anthropic' ? ['auto', 'standard_only'] : ['auto', 'default', 'flex', 'scale', 'priority'];
  if (serviceTier !== undefined && !known.includes(serviceTier)) {
    found.push(problem('serviceTier', `is ${serviceTier}: ${provider} (${protocol}) knows ${known.join(', ')}`));
  }
  return found;
}
