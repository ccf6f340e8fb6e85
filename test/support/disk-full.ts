import type { Database } from '../../src/store/database/database.ts';

/** A Postgres without room for another row of a table. */
export interface FullDisk {
  /** Writes that were refused so far. */
  refusals(): Promise<number>;
  end(): Promise<void>;
}

/**
 * Refuses what is written to a table with the error that Postgres raises when a disk is full (53100). Filling a disk for
 * real would need one that no other test shares.
 * @param refused Default: each new entry.
 * @param code Another SQLSTATE, for an error that does not pass.
 */
export async function diskFull(
  sql: Database,
  refused:
    | 'insert on entries'
    | 'insert on messages'
    | 'insert on model_attempts'
    | 'insert on model_facts'
    | 'insert on passages'
    | 'update of text on compaction_parts' = 'insert on entries',
  code = '53100',
): Promise<FullDisk> {
  const table = refused.split(' on ')[1];
  await asOwner(
    sql,
    `
    create sequence refused_inserts;
    grant select, usage on refused_inserts to public;
    create function raise_disk_full() returns trigger language plpgsql as $$
    begin
      perform nextval('refused_inserts');
      raise exception using errcode = '${code}', message = 'could not extend file: No space left on device';
    end $$;
    create trigger a_disk_full before ${refused} for each row execute function raise_disk_full()`,
  );
  return {
    async refusals() {
      const [row] = await sql<{ count: number }[]>`
        select case when is_called then last_value else 0 end::int as count from refused_inserts`;
      return row?.count ?? 0;
    },
    async end() {
      await asOwner(
        sql,
        `drop trigger a_disk_full on ${table}; drop function raise_disk_full(); drop sequence refused_inserts`,
      );
    },
  };
}

async function asOwner(sql: Database, statements: string): Promise<void> {
  await sql.begin(async (open) => {
    await open`set local role none`;
    await open.unsafe(statements);
  });
}
