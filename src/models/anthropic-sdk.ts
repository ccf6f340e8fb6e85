import Anthropic from '@anthropic-ai/sdk';
import { sdkOptions, type ProviderSettings } from './sdk-options.ts';

/** The SDK for a provider that speaks Anthropic's protocol. */
export function createAnthropicSdk(provider: ProviderSettings): Anthropic {
  return new Anthropic({
    ...sdkOptions(provider),
    // The SDK adds the version itself; users copy base URLs of both kinds.
    baseURL: provider.baseUrl.replace(/\/(?:v1\/?)?$/, ''),
    authToken: null,
  });
}
