import { connectDatabase } from '../../../src/store/database/database.ts';
import type { Database } from '../../../src/store/database/database.ts';

/** A connection whose database clock is ahead of the others'. */
export interface MovedClock {
  readonly sql: Database;
  set(secondsAhead: number): Promise<void>;
  close(): Promise<void>;
}

export function openMovedClock(url: string): MovedClock {
  const sql = connectDatabase({ url, maximumConnections: 1, applicationName: 'moved-clock' });
  return {
    sql,
    set: async (secondsAhead) => {
      await sql`select set_config('holdfast.clock_offset', ${`${secondsAhead} s`}, false)`;
    },
    close: () => sql.end(),
  };
}
