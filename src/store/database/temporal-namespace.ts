import type { TemporalNamespace } from '../../turn/temporal-names.ts';
import type { Database, Queries } from './database.ts';
import { StoreError } from './errors.ts';

export async function readNamespace(sql: Queries): Promise<TemporalNamespace | null> {
  const [row] = await sql<TemporalNamespace[]>`
    select namespace_name as name, namespace_id as id from deployment where namespace_id is not null`;
  return row ?? null;
}

/** For a worker: records its namespace where none is. @throws StoreError `namespace_differs` */
export async function claimNamespace(sql: Database, namespace: TemporalNamespace): Promise<void> {
  await sql`
    update deployment set namespace_name = ${namespace.name}, namespace_id = ${namespace.id} where namespace_id is null`;
  await requireNamespace(sql, namespace);
}

/**
 * Refuses a namespace that knows nothing of the database's turns. A database that no worker has served yet takes any.
 * @param namespace `id`: absent while Temporal was not asked
 * @throws StoreError `namespace_differs`
 */
export async function requireNamespace(
  sql: Database,
  namespace: Pick<TemporalNamespace, 'name'> & Partial<TemporalNamespace>,
): Promise<void> {
  const recorded = await readNamespace(sql);
  if (recorded === null) return;
  const { name, id = recorded.id } = namespace;
  if (recorded.name === name && recorded.id === id) return;
  throw new StoreError(
    'namespace_differs',
    `the database belongs to the Temporal namespace "${recorded.name}" (${recorded.id}), not to "${name}"${namespace.id === undefined ? '' : ` (${id})`}`,
  );
}

/** Makes the namespace that of the database, whatever was recorded: turns that were open elsewhere end as interrupted. */
export async function adoptNamespace(sql: Database, { name, id }: TemporalNamespace): Promise<void> {
  await sql`update deployment set namespace_name = ${name}, namespace_id = ${id}`;
}
