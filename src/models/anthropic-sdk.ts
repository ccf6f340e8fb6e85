import Anthropic from '@anthropic-ai/sdk';
import { createHostedAnthropicSdk } from './hosted-sdk.ts';
import type { ProviderDefinition } from './provider.ts';
import { sdkOptions } from './sdk-options.ts';

/** The SDK for a provider that speaks Anthropic's protocol. */
export function createAnthropicSdk(provider: ProviderDefinition): Anthropic {
  return new Anthropic({
    ...sdkOptions(provider),
    // The SDK adds the version itself; users copy base URLs of both kinds.
    baseURL: provider.baseUrl.replace(/\/(?:v1\/?)?$/, ''),
    authToken: null,
  });
}

/** The SDK that answers are asked with: for Claude on a cloud the cloud's own, loaded with the first call. */
export function anthropicSdkOf(provider: ProviderDefinition): () => Promise<Pick<Anthropic, 'messages'>> {
  const { hosting } = provider;
  if (hosting === undefined || hosting.cloud === 'azure') {
    const sdk = createAnthropicSdk(provider);
    return async () => sdk;
  }
  let loaded: Pick<Anthropic, 'messages'> | undefined;
  return async () => (loaded ??= await createHostedAnthropicSdk(provider, hosting));
}
