import { setSearchPath } from './database.ts';
import type { Database, Queries, Transaction } from './database.ts';
import { StoreError } from './errors.ts';

/** Schemas of needed extensions, with a role that may not use them. */
const CLOSED_SCHEMAS = `
  select distinct n.nspname as schema, r.rolname as role
  from pg_extension e
  join pg_namespace n on n.oid = e.extnamespace and n.nspname <> 'holdfast'
  join pg_roles r on r.rolname in ('holdfast_owner', 'holdfast_app', 'holdfast_api') and not has_schema_privilege(r.oid, n.oid, 'usage')
  where e.extname in ('pg_trgm', 'vector')`;

/** Any number, the same in all versions: two migrators wait for each other. */
const MIGRATION_LOCK = 4_702_361_985;

/**
 * Waits as long as another migrator needs, whatever time limits the connection has, as the login and not as the role that it runs as.
 * An administrator's rights call nothing that others created.
 */
export async function takeLock(transaction: Transaction): Promise<void> {
  await transaction`set local role none`;
  await transaction`set local search_path = pg_catalog`;
  await transaction`set local lock_timeout = 0`;
  await transaction`set local statement_timeout = 0`;
  await transaction`select pg_advisory_xact_lock(${String(MIGRATION_LOCK)}::bigint)`;
}

/** What is created next is the ledger's owner's, and finds names as a connection of the application does. */
export async function becomeOwner(transaction: Transaction): Promise<void> {
  const [ledger] = await transaction<{ owner: string }[]>`
    select pg_get_userbyid(relowner) as owner from pg_class
    where oid = to_regclass('holdfast.migrations') and pg_has_role(relowner, 'member')`;
  if (ledger !== undefined) await transaction`set local role ${transaction(ledger.owner)}`;
  await transaction.unsafe(setSearchPath('transaction'));
}

/** Also to roles that were created after the tables. Of a login that is not the owner it changes nothing. */
export async function grantRights(sql: Database): Promise<void> {
  await sql.begin(async (transaction) => {
    await takeLock(transaction);
    await becomeOwner(transaction);
    await transaction`
      select grant_rights(), case when exists (select from pg_policies where schemaname = 'holdfast') then isolate_tenants() end
      from pg_class where oid = 'holdfast.migrations'::regclass and pg_has_role(relowner, 'usage')`;
  });
}

/**
 * Keeps the rows of tenants apart by row-level security, for servers whose callers have keys. Later migrations keep it on. It is
 * asked for, because Postgres plans some reads of such tables worse.
 */
export async function isolateTenants(sql: Database): Promise<void> {
  await sql.begin(async (transaction) => {
    await takeLock(transaction);
    await becomeOwner(transaction);
    await transaction`select isolate_tenants()`;
  });
}

/**
 * What must be there before the first file: the roles, where this login may create them, the schema and its ledger. The file
 * with the tables grants to `holdfast_app`, and all that `holdfast_owner` runs is its own.
 */
export async function createBookkeeping(sql: Database): Promise<void> {
  await sql.begin(async (transaction) => {
    // `if not exists` alone is not safe against a simultaneous creation.
    await takeLock(transaction);
    await transaction.unsafe(`
      do $$
      declare
        wanted text;
      begin
        foreach wanted in array array['holdfast_owner', 'holdfast_app', 'holdfast_api'] loop
          begin
            if not exists (select from pg_roles where rolname = wanted) then execute format('create role %I', wanted); end if;
          exception when insufficient_privilege or duplicate_object or unique_violation then
            -- A managed Postgres may not allow it, and a migrator of another database may just have done it.
            null;
          end;
        end loop;
        begin
          -- Postgres 16 and later do not make the creator of a role a member of it.
          if not pg_has_role(current_user, 'holdfast_owner', 'member') then grant holdfast_owner to current_user; end if;
        exception when insufficient_privilege or undefined_object then null;
        end;
        if to_regclass('holdfast.migrations') is not null then return; end if;
        -- An administrator may have made it for a login that may not.
        if to_regnamespace('holdfast') is null then create schema holdfast; end if;
        begin
          create extension if not exists pg_trgm with schema holdfast;
        exception when insufficient_privilege or undefined_file or feature_not_supported then
          -- requireTrigrams says what to do.
          null;
        end;
        create table holdfast.migrations (
          name text primary key,
          checksum text not null,
          applied_at timestamptz not null default clock_timestamp()
        );
        comment on schema holdfast is 'Everything of Holdfast.';
        comment on table holdfast.migrations is 'Files of migrations/ that were applied to this database.';
        comment on column holdfast.migrations.name is 'File name; the order of names is the order of application.';
        comment on column holdfast.migrations.checksum is 'SHA-256 of the file, hexadecimal: an applied file never changes.';
        comment on column holdfast.migrations.applied_at is 'When it was applied.';
        if exists (select from pg_roles where rolname = 'holdfast_owner' and pg_has_role(oid, 'member')) then
          alter schema holdfast owner to holdfast_owner;
          alter table holdfast.migrations owner to holdfast_owner;
        end if;
      end $$;`);
    await requireTrigrams(transaction);
    await openExtensions(transaction);
  });
}

/** @throws StoreError `database_unsupported` when this login may not create what the search of misspelt words needs */
async function requireTrigrams(sql: Queries): Promise<void> {
  const found = await sql`select from pg_extension where extname = 'pg_trgm'`;
  if (found.length > 0) return;
  throw new StoreError(
    'database_unsupported',
    'this database has no extension pg_trgm, and this login may not create it: an administrator runs `create extension pg_trgm with schema holdfast`, then migrate again',
  );
}

/**
 * Lets the roles use the schemas in which the extensions lie; Postgres leaves a schema that a role may not use out of its path in silence.
 * @throws StoreError `database_unsupported` when this login may not
 */
export async function openExtensions(transaction: Transaction): Promise<void> {
  await transaction.unsafe(`
    do $$
    declare
      closed record;
    begin
      for closed in ${CLOSED_SCHEMAS} loop
        begin
          execute format('grant usage on schema %I to %I', closed.schema, closed.role);
        exception when insufficient_privilege then null;
        end;
      end loop;
    end $$;`);
  const closed = await transaction.unsafe<{ schema: string; role: string }[]>(CLOSED_SCHEMAS);
  if (closed.length === 0) return;
  const grants = closed.map(({ schema, role }) => `\`grant usage on schema ${schema} to ${role}\``);
  throw new StoreError(
    'database_unsupported',
    `the schema of an extension is closed to the roles of Holdfast, and this login may not open it: an administrator runs ${grants.join(' and ')}, then migrate again`,
  );
}

/** The one message for every database that this version does not know, older or newer. */
export function databaseDiffers(found: string): StoreError {
  return new StoreError(
    'database_differs',
    `another version of Holdfast made this database (${found}): use that version or a newer one, or an empty database`,
  );
}
