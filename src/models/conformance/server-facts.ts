import { anthropicRequest } from '../protocols/anthropic/request.ts';
import { toModelCallError } from '../call-failure.ts';
import { numberOf, property } from '../protocols/json.ts';
import { createOpenAISdk } from '../protocols/openai-sdk.ts';
import { responsesRequest } from '../protocols/responses/request.ts';
import { createAnthropicSdk } from '../protocols/anthropic/sdk.ts';
import type { ProviderDefinition } from '../provider.ts';
import { askServedLimits } from '../catalogue/served-limits.ts';
import { FIRST_REQUEST } from './answer-checks.ts';
import type { Verdict } from './capability.ts';
import type { ServedWindow } from './overflow-check.ts';
import { failureWords, type Probe, probeView } from './probe.ts';

/** The window that the server's list of models names; `null` when it names none or has no such list. */
export async function servedWindow(provider: ProviderDefinition, model: string): Promise<ServedWindow | null> {
  if (isFoundByRegion(provider)) return null;
  try {
    const { window } = await askServedLimits(provider, model);
    return window === undefined ? null : { tokens: window, source: "the server's list of models" };
  } catch {
    // Many servers have no such list: nothing is known then, which the check says.
    return null;
  }
}

/** Without an address the plain SDK would turn to its vendor. */
function isFoundByRegion({ hosting }: ProviderDefinition): boolean {
  return hosting?.cloud === 'bedrock' || hosting?.cloud === 'vertex';
}

/** Counts the first request again, without an answer, and compares with what its answer reported. */
export async function checkCountEndpoint(provider: ProviderDefinition, probe: Probe): Promise<Verdict> {
  if (isFoundByRegion(provider)) return { status: 'missing', detail: 'not asked for behind a cloud' };
  if (provider.protocol === 'chat')
    return { status: 'missing', detail: 'Chat Completions has none; Holdfast estimates, and learns from usage' };
  try {
    const counted = numberOf(property(await countFirstRequest(provider, probe.model), 'input_tokens'));
    if (counted === undefined) return { status: 'missing', detail: 'the endpoint answered without a number' };
    const reported = probe.answers[0]?.usage?.input;
    const compared = reported === undefined ? '' : `, usage said ${reported}`;
    return { status: 'works', detail: `counts ${counted} tokens${compared}` };
  } catch (error) {
    return { status: 'missing', detail: `refused: ${failureWords(toModelCallError(error, provider.name))}` };
  }
}

async function countFirstRequest(provider: ProviderDefinition, model: string): Promise<unknown> {
  const request = { model, view: probeView(FIRST_REQUEST), maximumOutput: 1, cacheKey: 'holdfast-conformance' };
  const options = { provider: provider.name, thinking: true };
  if (provider.protocol === 'anthropic') {
    const { messages, system } = anthropicRequest(request, options);
    return (await createAnthropicSdk(provider)).messages.countTokens({ model, messages, ...(system && { system }) });
  }
  const { input, instructions } = responsesRequest(request, options);
  return (await createOpenAISdk(provider)).responses.inputTokens.count({
    model,
    input: input ?? [],
    instructions: instructions ?? null,
  });
}
