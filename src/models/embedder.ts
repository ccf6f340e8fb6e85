import { toModelCallError } from './call-failure.ts';
import { openAISdkOf } from './protocols/sdk.ts';
import type { ProviderDefinition } from './provider.ts';

/** Turns texts into vectors, texts of like meaning into vectors of like direction: OpenAI's `/v1/embeddings`, which most servers speak. */
export interface EmbeddingClient {
  /** With the dimensions, it tells apart vectors that cannot be compared. Those of another model are made anew. */
  readonly model: string;
  /** Numbers of a vector, at most 2,000, because pgvector indexes no more. */
  readonly dimensions: number;
  /**
   * One vector for each text, in order. Rejects when the server fails. If the server does not take one of the texts, the error's `status`
   * is 400, 413 or 422, and that text is looked for and left out.
   * @param purpose decides which prefix goes before each text, for models that were trained with prefixes. Default: `passage`
   */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    purpose?: 'passage' | 'query',
  ): Promise<readonly (readonly number[])[]>;
}

export interface EmbeddingModel {
  /** As the provider names it. */
  readonly model: string;
  /** Numbers of a vector; a model that gives another number is refused at its first answer. */
  readonly dimensions: number;
  /** What the model was trained to have before each text. Default: nothing. */
  readonly passagePrefix?: string | undefined;
  /** The same before each query. Default: nothing. */
  readonly queryPrefix?: string | undefined;
}

/** Makes vectors with a model of a provider, for `connect` (`embedder`). Use the model of the workers: vectors of two models never match. */
export function createEmbeddingClient(
  provider: ProviderDefinition,
  { model, dimensions, passagePrefix = '', queryPrefix = '' }: EmbeddingModel,
): EmbeddingClient {
  const sdkOf = openAISdkOf(provider);
  return {
    // Vectors of texts with another prefix cannot be compared.
    model: `${provider.name}/${model}${passagePrefix === '' ? '' : ` ${passagePrefix.trim()}`}`,
    dimensions,
    async embed(texts, signal, purpose = 'passage') {
      const prefix = purpose === 'query' ? queryPrefix : passagePrefix;
      const sdk = await sdkOf();
      const input = texts.map((text) => `${prefix}${text}`);
      const { data } = await sdk.embeddings
        // Servers of one's own mostly give the model's own size and know no `dimensions`.
        .create({ model, input, encoding_format: 'float' }, { signal })
        .catch((error: unknown) => {
          throw toModelCallError(error, provider.name);
        });
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
