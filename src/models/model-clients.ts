import type { ProtocolName, ProviderDefinition } from './provider.ts';
import { createAnthropicClient } from './protocols/anthropic/client.ts';
import { createChatClient } from './protocols/chat/client.ts';
import type { ModelClient } from './model-client.ts';
import { createResponsesClient } from './protocols/responses/client.ts';

const CREATE: Readonly<Record<ProtocolName, (provider: ProviderDefinition) => ModelClient>> = {
  anthropic: createAnthropicClient,
  chat: createChatClient,
  responses: createResponsesClient,
};

/**
 * The clients of all configured providers by name. A provider's client is made at its first use
 * and shared by all calls, and with it the SDK's client and its connections.
 * The returned function throws when no provider has the name.
 */
export function createModelClients(providers: readonly ProviderDefinition[]): (providerName: string) => ModelClient {
  const definitions = new Map(providers.map((provider) => [provider.name, provider]));
  const clients = new Map<string, ModelClient>();
  return (providerName) => {
    const existing = clients.get(providerName);
    if (existing !== undefined) return existing;
    const definition = definitions.get(providerName);
    if (definition === undefined) {
      const names = [...definitions.keys()].join(', ') || 'none';
      throw new Error(`No provider is named "${providerName}". Configured providers: ${names}.`);
    }
    const client = CREATE[definition.protocol](definition);
    clients.set(providerName, client);
    return client;
  };
}
