import Anthropic from '@anthropic-ai/sdk';
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
