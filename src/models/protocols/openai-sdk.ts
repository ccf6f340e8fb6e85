import type OpenAI from 'openai';
import type { ProviderDefinition } from '../provider.ts';
import { sdkOptions } from './sdk-options.ts';

/** The SDK for a provider that speaks one of OpenAI's protocols, loaded with the first call: its 150 files delay each start. */
export async function createOpenAISdk(provider: ProviderDefinition): Promise<OpenAI> {
  const { BodyPreservingAzure, BodyPreservingOpenAI } = await import('./body-preserving-openai.ts');
  const baseURL = provider.baseUrl.replace(/\/+$/, '');
  const options = { ...sdkOptions(provider), organization: null, project: null };
  if (provider.hosting?.cloud !== 'azure') return new BodyPreservingOpenAI({ ...options, baseURL });
  const { apiVersion } = provider.hosting;
  return new BodyPreservingAzure({ ...options, apiVersion, baseURL: baseURL.replace(/(?:\/openai)?$/, '/openai') });
}

/** The same, made once for all calls. */
export function openAISdkOf(provider: ProviderDefinition): () => Promise<OpenAI> {
  let loaded: OpenAI | undefined;
  return async () => (loaded ??= await createOpenAISdk(provider));
}
