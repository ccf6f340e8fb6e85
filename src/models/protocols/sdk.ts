import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { ProviderDefinition } from '../provider.ts';
import { createHostedAnthropicSdk } from './hosted-sdk.ts';
import { sdkOptions } from './transport.ts';

/** The SDK for a provider that speaks Anthropic's protocol, loaded with the first call: its 250 files delay each start. */
export async function createAnthropicSdk(provider: ProviderDefinition): Promise<Anthropic> {
  const { default: Sdk } = await import('@anthropic-ai/sdk');
  return new Sdk({
    ...sdkOptions(provider),
    // The SDK adds the version itself; users copy base URLs of both kinds.
    baseURL: provider.baseUrl.replace(/\/(?:v1\/?)?$/, ''),
    authToken: null,
  });
}

/** The SDK for a provider that speaks one of OpenAI's protocols, loaded with the first call: its 150 files delay each start. */
export async function createOpenAISdk(provider: ProviderDefinition): Promise<OpenAI> {
  const { default: Sdk, AzureOpenAI } = await import('openai');
  const baseURL = provider.baseUrl.replace(/\/+$/, '');
  const options = { ...sdkOptions(provider), organization: null, project: null };
  if (provider.hosting?.cloud !== 'azure') return new Sdk({ ...options, baseURL });
  const { apiVersion } = provider.hosting;
  return new AzureOpenAI({ ...options, apiVersion, baseURL: baseURL.replace(/(?:\/openai)?$/, '/openai') });
}

/** The SDK that answers are asked with, made once: for Claude on a cloud the cloud's own. */
export function anthropicSdkOf(provider: ProviderDefinition): () => Promise<Pick<Anthropic, 'messages'>> {
  const { hosting } = provider;
  return once<Pick<Anthropic, 'messages'>>(() =>
    hosting === undefined || hosting.cloud === 'azure'
      ? createAnthropicSdk(provider)
      : createHostedAnthropicSdk(provider, hosting),
  );
}

export function openAISdkOf(provider: ProviderDefinition): () => Promise<OpenAI> {
  return once(() => createOpenAISdk(provider));
}

/** A failure is not kept: a package may be installed meanwhile. */
function once<Sdk>(create: () => Promise<Sdk>): () => Promise<Sdk> {
  let made: Sdk | undefined;
  return async () => (made ??= await create());
}
