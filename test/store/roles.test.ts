import { expect, it } from 'vitest';
import { useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

it('the application runs as a role that owns nothing and may do nothing beside its grants', async () => {
  const [role] = await sql<{ name: string; rights: boolean; owned: number }[]>`
    select current_user::text as name, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as rights,
      (select count(*)::int from pg_class where relowner = r.oid) as owned
    from pg_roles r where rolname = current_user`;
  expect(role).toEqual({ name: 'holdfast_app', rights: false, owned: 0 });
  const [owners] = await sql<{ owners: string[] }[]>`
    select array_agg(distinct relowner::regrole::text) as owners from pg_class
    where relnamespace = 'holdfast'::regnamespace and relkind in ('r', 'v', 'S')`;
  expect(owners?.owners).toEqual(['holdfast_owner']);
});

it('whose a row is, and what a model asked for, the application cannot change', async () => {
  const found = await sql`
    select relname || '.' || attname as name from pg_attribute a join pg_class c on c.oid = attrelid
    where relnamespace = 'holdfast'::regnamespace and has_column_privilege(c.oid, attnum, 'update')
      and (relname, attname::text) in (('conversations', 'tenant'), ('turns', 'snapshot_hash'), ('tool_calls', 'arguments'),
        ('decisions', 'conversation_id'), ('compactions', 'turn_id'))`;
  expect(found).toEqual([]);
});

it('what was logged the application can neither change nor delete', async () => {
  const rows = await sql<{ name: string; updates: boolean; deletes: boolean }[]>`
    select relname as name, has_any_column_privilege(oid, 'update') as updates, has_table_privilege(oid, 'delete, truncate') as deletes
    from pg_class where relnamespace = 'holdfast'::regnamespace and relkind = 'r'`;
  const namesOf = (which: (row: (typeof rows)[number]) => boolean): string[] =>
    rows.flatMap((row) => (which(row) ? [row.name] : [])).toSorted();
  expect(namesOf(({ updates, deletes }) => !updates && !deletes)).toEqual([
    'branch_summaries',
    'branches',
    'compaction_operations',
    'content_pieces',
    'entries',
    'events',
    'migrations',
    'packed_outlines',
  ]);
  expect(namesOf(({ updates, deletes }) => updates && !deletes)).toEqual([
    'agent_snapshots',
    'api_keys',
    'compaction_parts',
    'compactions',
    'contents',
    'conversations',
    'decisions',
    'deployment',
    'messages',
    'model_attempts',
    'tool_calls',
    'turns',
  ]);
});
