import type { Queries } from '../database/database.ts';

/** Turns texts into vectors, texts of like meaning into vectors of like direction. */
export interface TextEmbedder {
  /** With the dimensions, what tells vectors apart that cannot be compared: other ones are made anew. */
  readonly model: string;
  /** Numbers of a vector, at most 2,000: what pgvector can index. */
  readonly dimensions: number;
  /**
   * One vector for each text, in order. Rejects when the server fails; with an error whose `status` is 400, 413 or 422 when it does not
   * take one of the texts, which is then looked for and passed over.
   * @param purpose many models are trained with a prefix for each. Default: `passage`
   */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    purpose?: 'passage' | 'query',
  ): Promise<readonly (readonly number[])[]>;
}

export interface MeaningSearch {
  readonly embedder: TextEmbedder;
  readonly onFailure?: (error: unknown) => void;
}

export function vectorText(vector: readonly number[]): string {
  return `[${vector.join(',')}]`;
}

/** Names vectors that can be compared with each other: those of one model in one number of dimensions. */
export function modelKey({ model, dimensions }: TextEmbedder): string {
  return `${model}:${dimensions}`;
}

export async function hasVectors(sql: Queries): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select to_regclass('holdfast.embeddings') is not null as found`;
  return row?.found === true;
}
