import type { Database } from '../../src/store/database.ts';

/** A Postgres without room for another entry. */
export interface FullDisk {
  /** Inserts that were refused so far. */
  refusals(): Promise<number>;
  end(): Promise<void>;
}

/**
 * Refuses each new entry with the error that Postgres raises when a disk is full (53100). Filling a disk for real would
 * need one that no other test shares.
 */
export async function diskFull(sql: Database): Promise<FullDisk> {
  await sql.unsafe(`
    create sequence refused_inserts;
    create function raise_disk_full() returns trigger language plpgsql as $$
    begin
      perform nextval('refused_inserts');
      raise exception using errcode = '53100', message = 'could not extend file: No space left on device';
    end $$;
    create trigger a_disk_full before insert on entries for each row execute function raise_disk_full()`);
  return {
    async refusals() {
      const [row] = await sql<{ count: number }[]>`
        select case when is_called then last_value else 0 end::int as count from refused_inserts`;
      return row?.count ?? 0;
    },
    async end() {
      await sql.unsafe(
        'drop trigger a_disk_full on entries; drop function raise_disk_full(); drop sequence refused_inserts',
      );
    },
  };
}
