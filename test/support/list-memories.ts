import type { Queries } from '../../src/store/database/database.ts';
import { listMemoriesOf } from '../../src/store/memory/memories.ts';
import type { MemoryKind, MemoryScope, StoredMemory } from '../../src/store/memory/memories.ts';

/** Memories of these scopes, each newest first. */
export async function listMemories(
  sql: Queries,
  {
    scopes,
    kinds,
    all = false,
    limit = 100,
  }: {
    readonly scopes: readonly MemoryScope[];
    readonly kinds?: readonly MemoryKind[];
    readonly all?: boolean;
    readonly limit?: number;
  },
): Promise<StoredMemory[]> {
  const lists = scopes.map(({ tenant = 'default', scope, scopeName }) =>
    listMemoriesOf(sql, { tenant, scope, name: scopeName, all, limit }),
  );
  return (await Promise.all(lists)).flat().filter(({ kind }) => kinds?.includes(kind) ?? true);
}
