import { createEmbeddingClient } from '../models/embedder.ts';
import type { EmbeddingClient } from '../models/embedder.ts';
import { parseModelName } from '../models/catalogue/model-name.ts';
import { providerNamed } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { ConfigurationError } from './errors.ts';

/** What embeds passages and queries, if `embeddings` of `holdfast.yaml` names a model. @throws ConfigurationError `provider_unknown` … */
export function embedderOf(configuration: Configuration): EmbeddingClient | null {
  if (configuration.embeddings === null) return null;
  const { provider: name, model } = parseModelName(configuration.embeddings.model);
  const provider = providerNamed(configuration, name);
  if (provider.protocol === 'anthropic') {
    throw new ConfigurationError(
      'configuration_invalid',
      `embeddings.model names the provider ${name}, which speaks Anthropic's protocol: that has no embeddings. Name one whose protocol is chat or responses.`,
    );
  }
  return createEmbeddingClient(provider, { ...configuration.embeddings, model });
}
