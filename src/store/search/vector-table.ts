import type { Queries } from '../database/database.ts';
import type { TextEmbedder } from './embedder.ts';

const NO_VECTORS = 'this database has no table for vectors: `npx holdfast migrate --embeddings <dimensions>` makes it';

/** Whether the optional migration of vectors was applied. */
export async function hasVectors(sql: Queries): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select to_regclass('holdfast.embeddings') is not null as found`;
  return row?.found === true;
}

/** @throws Error when this database has no table for vectors */
export async function requireVectors(sql: Queries): Promise<void> {
  if (!(await hasVectors(sql))) throw new Error(NO_VECTORS);
}

/** Names vectors that can be compared with each other: those of one model in one number of dimensions. */
export function modelKey({ model, dimensions }: TextEmbedder): string {
  return `${model}:${dimensions}`;
}
