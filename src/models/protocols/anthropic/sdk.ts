import type Anthropic from '@anthropic-ai/sdk';
import { createHostedAnthropicSdk } from '../hosted-sdk.ts';
import type { ProviderDefinition } from '../../provider.ts';
import { sdkOptions } from '../sdk-options.ts';

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

/** The SDK that answers are asked with: for Claude on a cloud the cloud's own. */
export function anthropicSdkOf(provider: ProviderDefinition): () => Promise<Pick<Anthropic, 'messages'>> {
  const { hosting } = provider;
  let loaded: Pick<Anthropic, 'messages'> | undefined;
  return async () =>
    (loaded ??=
      hosting === undefined || hosting.cloud === 'azure'
        ? await createAnthropicSdk(provider)
        : await createHostedAnthropicSdk(provider, hosting));
}
