import OpenAI, { AzureOpenAI } from 'openai';
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

/** The same for Azure, which wants the deployment in the path, a version, and the key in a header of its own. */
class BodyPreservingAzure extends AzureOpenAI {
  protected override makeStatusError(
    ...[status, error, message, headers]: Parameters<OpenAI['makeStatusError']>
  ): ReturnType<OpenAI['makeStatusError']> {
    return Object.assign(super.makeStatusError(status, error, message, headers), { rawBody: error ?? message });
  }
}

/** The SDK for a provider that speaks one of OpenAI's protocols. */
export function createOpenAISdk(provider: ProviderDefinition): OpenAI {
  const baseURL = provider.baseUrl.replace(/\/+$/, '');
  const options = { ...sdkOptions(provider), organization: null, project: null };
  if (provider.hosting?.cloud !== 'azure') return new BodyPreservingOpenAI({ ...options, baseURL });
  const { apiVersion } = provider.hosting;
  return new BodyPreservingAzure({ ...options, apiVersion, baseURL: baseURL.replace(/(?:\/openai)?$/, '/openai') });
}
