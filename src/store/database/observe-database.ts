import { setTimeout } from 'node:timers/promises';
import { metrics } from '@opentelemetry/api';
import type { Database } from './database.ts';

interface Connections {
  readonly application: string;
  /** As `pg_stat_activity` names it; `unknown` for those of another role. */
  readonly state: string;
  readonly count: number;
}

/** Milliseconds: Prometheus gives a look at all metrics ten seconds, and the alert on a slow database begins at one. */
const LONGEST_WAIT = 2_000;

/**
 * Shows, with each look at the metrics, the connections of all of Holdfast's processes to the database, and how long this process waits
 * for a small query: a pool without a free connection and a slow server both make it long.
 */
export function observeDatabase(sql: Database): void {
  const meter = metrics.getMeter('holdfast');
  const connections = meter.createObservableGauge('holdfast.database_connections', {
    description: 'Connections of all processes to the database, by application and state',
  });
  const seconds = meter.createObservableGauge('holdfast.database_query_seconds', {
    unit: 's',
    description: 'Time of a small query, with the wait for a free connection',
  });
  meter.addBatchObservableCallback(
    async (result) => {
      const started = performance.now();
      // Without an answer the time that was waited is shown, and no connections.
      const rows = await Promise.race([
        readConnections(sql).catch(() => []),
        setTimeout(LONGEST_WAIT, [], { ref: false }),
      ]);
      result.observe(seconds, (performance.now() - started) / 1_000);
      for (const { application, state, count } of rows) result.observe(connections, count, { application, state });
    },
    [connections, seconds],
  );
}

async function readConnections(sql: Database): Promise<Connections[]> {
  return sql<Connections[]>`
    select application_name as application, coalesce(state, 'unknown') as state, count(*)::int as count
    from pg_stat_activity where datname = current_database() and application_name like 'holdfast%' group by 1, 2`;
}
