import { openAISdkOf } from './protocols/openai-sdk.ts';
import type { ProviderDefinition } from './provider.ts';

/** What turns texts into vectors at a provider, through OpenAI's `/v1/embeddings`, which most servers speak. */
export interface EmbeddingClient {
  readonly model: string;
  readonly dimensions: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}

/**
 * @param model as the provider names it
 * @param dimensions numbers of a vector; a model that gives another number is refused at its first answer
 */
export function createEmbeddingClient(
  provider: ProviderDefinition,
  { model, dimensions }: { readonly model: string; readonly dimensions: number },
): EmbeddingClient {
  const sdkOf = openAISdkOf(provider);
  return {
    model: `${provider.name}/${model}`,
    dimensions,
    async embed(texts, signal) {
      const sdk = await sdkOf();
      const { data } = await sdk.embeddings.create(
        // Servers of one's own mostly give the model's own size and know no `dimensions`.
        { model, input: [...texts], encoding_format: 'float' },
        { signal },
      );
      const vectors = data.toSorted((one, other) => one.index - other.index).map(({ embedding }) => embedding);
      const wrong = vectors.find((vector) => vector.length !== dimensions);
      if (vectors.length !== texts.length || wrong !== undefined) {
        throw new RangeError(
          `${model} of ${provider.name} gave ${vectors.length} vectors of ${wrong?.length ?? dimensions} numbers for ${texts.length} texts; ` +
            `embeddings.dimensions in holdfast.yaml is ${dimensions}`,
        );
      }
      return vectors;
    },
  };
}
