import OpenAI from 'openai';
import type { ProviderDefinition } from './provider.ts';
import { sdkOptions } from './sdk-options.ts';

/** The SDK keeps only `body.error`; flat bodies (Mistral, vLLM, Gemini's lists, FastAPI's `detail`) would be lost. */
class BodyPreservingOpenAI extends OpenAI {
  protected override makeStatusError(
    ...[status, error, message, headers]: Parameters<OpenAI['makeStatusError']>
  ): ReturnType<OpenAI['makeStatusError']> {
    return Object.assign(super.makeStatusError(status, error, message, headers), { rawBody: error ?? message });
  }
}

/** The SDK for a provider that speaks one of OpenAI's protocols. */
export function createOpenAISdk(provider: ProviderDefinition): OpenAI {
  return new BodyPreservingOpenAI({
    ...sdkOptions(provider),
    baseURL: provider.baseUrl.replace(/\/+$/, ''),
    organization: null,
    project: null,
  });
}
