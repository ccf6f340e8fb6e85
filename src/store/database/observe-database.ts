import { metrics } from '@opentelemetry/api';
import type { Database } from './database.ts';

interface Connections {
  readonly application: string;
  /** As `pg_stat_activity` names it; `unknown` for those of another role. */
  readonly state: string;
  readonly count: number;
}

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
      // A look that Postgres does not answer shows nothing: the exporter tells of the failure.
      const rows = await sql<Connections[]>`
        select application_name as application, coalesce(state, 'unknown') as state, count(*)::int as count
        from pg_stat_activity where datname = current_database() and application_name like 'holdfast%' group by 1, 2`;
      result.observe(seconds, (performance.now() - started) / 1_000);
      for (const { application, state, count } of rows) result.observe(connections, count, { application, state });
    },
    [connections, seconds],
  );
}
