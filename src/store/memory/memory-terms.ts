import { createHash } from 'node:crypto';
import { stemsOf } from '../../context/memory/choose-memories.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { MemoryScope } from './memories.ts';

/** Characters by which scopes differ in an index; two of one key cost time, never an answer. */
const KEY_CHARACTERS = 6;

/** A scope's summaries or its other memories: so that a look into the index meets nothing else. */
export interface MemoryShelf extends MemoryScope {
  readonly isSummary: boolean;
}

export function termsOf({ kind, text, ...scope }: MemoryScope & { readonly kind: string; readonly text: string }) {
  const shelf = { ...scope, isSummary: kind === 'summary' };
  return [...stemTerms(shelf, stemsOf(text)), wholeTextTerm(shelf, text)];
}

export function stemTerms(shelf: MemoryShelf, stems: readonly string[]): string[] {
  const key = keyOf(shelf);
  return [...new Set(stems)].map((stem) => `${key}${stem}`);
}

/** Equal for equal texts. No stem begins so. */
export function wholeTextTerm(shelf: MemoryShelf, text: string): string {
  return `${keyOf(shelf)}=${createHash('sha256').update(text).digest('base64url')}`;
}

function keyOf({ tenant = DEFAULT_TENANT, scope, scopeName, isSummary }: MemoryShelf): string {
  const shelf = JSON.stringify([tenant, scope, scopeName, isSummary]);
  return createHash('sha256').update(shelf).digest('base64url').slice(0, KEY_CHARACTERS);
}
