import { DEFAULT_PORTS } from '../choose-ports.ts';
import { isPortFree } from '../ports.ts';
import { findPostgresBinaries } from '../postgres/postgres-binaries.ts';
import { isStackRunning, rememberedPorts } from '../stack.ts';
import { StackError } from '../stack-error.ts';
import type { Stack } from '../stack-file.ts';
import { readConnectionOptions } from '../../store/database/connection-options.ts';
import { StoreError } from '../../store/database/errors.ts';
import { openDatabase, requireNotifications, WITHOUT_DIRECT_CONNECTION } from '../../store/database/pooler.ts';
import { connectClient } from '../../temporal/connect.ts';
import { TemporalError } from '../../temporal/errors.ts';
import { isPolled } from '../../temporal/is-polled.ts';
import { DEFAULT_TURN_TASK_QUEUE } from '../../turn/temporal-names.ts';
import { temporalAt } from '../../temporal/profile.ts';
import type { TemporalAddress } from '../../temporal/profile.ts';
import { commandsFor, missingSearchAttributes } from '../../temporal/namespace.ts';
import { broken, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

export interface ServerCheckOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** State folder of the local stack. */
  readonly directory: string;
  readonly stack: Stack | null;
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.split('\n')[0] ?? text;
}

/** A remote clock may be this far from ours before timeouts and "minutes ago" begin to look wrong. */
const CLOCK_WARNING_MILLISECONDS = 2000;
const CLOCK_BROKEN_MILLISECONDS = 60_000;

/** Judges the difference between the database's clock and ours. */
export function judgeClock(differenceMilliseconds: number): Finding {
  const check = 'clock';
  const distance = Math.abs(differenceMilliseconds);
  const detail = `the database's clock is ${(distance / 1000).toFixed(1)} s ${differenceMilliseconds < 0 ? 'behind' : 'ahead of'} this machine's`;
  const fix = 'let both machines set their clocks by NTP (timedatectl set-ntp true)';
  if (distance > CLOCK_BROKEN_MILLISECONDS) return broken(check, detail, fix);
  return distance > CLOCK_WARNING_MILLISECONDS
    ? warning(check, detail, fix)
    : ok(check, 'the database and this machine agree');
}

/**
 * Asks a server for its version and its time; the time is compared with the middle of the round trip.
 * @param listenUrl also asks whether notifications arrive
 */
async function askPostgres(
  url: string,
  listenUrl?: string | null,
): Promise<{ version: string; differenceMilliseconds: number }> {
  const sql = await openDatabase({
    url,
    listenUrl: listenUrl ?? null,
    applicationName: 'holdfast-doctor',
    maximumConnections: 2,
  });
  try {
    if (listenUrl !== undefined) await requireNotifications(sql);
    const before = Date.now();
    const [row] = await sql<{ version: string; now: number }[]>`
      select current_setting('server_version') as version, (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    const middle = (before + Date.now()) / 2;
    return { version: row?.version ?? 'unknown', differenceMilliseconds: (row?.now ?? middle) - middle };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The Postgres that commands would use, or, when none runs, the embedded one that would be started. Also compares the clocks. */
export async function checkPostgres(options: ServerCheckOptions, databaseUrl: string | null): Promise<Finding[]> {
  const check = 'Postgres';
  try {
    if (databaseUrl === null) {
      const { version } = await findPostgresBinaries();
      return [ok(check, `${version} is installed; none is running now`)];
    }
    const listenUrl = options.environment['DATABASE_LISTEN_URL'] || null;
    const { host, port, pooled } = readConnectionOptions(databaseUrl);
    const isDirect = !pooled || listenUrl !== null;
    const { version, differenceMilliseconds } = await askPostgres(databaseUrl, isDirect ? listenUrl : undefined);
    const servers = host.map((name, index) => `${name}:${port[index] ?? port[0]}`).join(',');
    const answers = `${version} answers on ${servers}${pooled ? ' through a pooler' : ''}`;
    const finding = isDirect
      ? ok(check, `${answers}, and notifications arrive`)
      : warning(check, `${answers}; ${WITHOUT_DIRECT_CONNECTION}`, 'name one in DATABASE_LISTEN_URL');
    return [finding, judgeClock(differenceMilliseconds)];
  } catch (error) {
    if (error instanceof StackError) return [broken(check, error.message.replace(error.fix, '').trim(), error.fix)];
    const own = (options.environment['DATABASE_URL'] ?? '') === '';
    const fix = own
      ? 'npx holdfast dev, and read .holdfast/logs/postgres.log'
      : 'correct DATABASE_URL, or unset it to use the embedded Postgres';
    return [broken(check, messageOf(error), error instanceof StoreError ? 'see docs/connections.md' : fix)];
  }
}

const SECONDS_AN_HOUR = 3_600;

/** Temporal answers an idle poll after a minute. */
const POLL_MILLISECONDS = 70_000;

interface TemporalFound {
  readonly retentionHours: number;
  /** Search attributes that the namespace lacks. */
  readonly missing: readonly string[];
  /** A worker asks for work of the task queue. */
  readonly isServed: boolean;
}

/** With the key, certificates and codec that a client and a worker use. */
async function askTemporal(temporal: TemporalAddress, taskQueue: string): Promise<TemporalFound> {
  const { connection } = await connectClient(temporal);
  const { namespace } = temporal;
  try {
    return await connection.withDeadline(Date.now() + 5000, async () => {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      const retention = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
      return {
        retentionHours: retention / SECONDS_AN_HOUR,
        missing: await missingSearchAttributes(connection, namespace),
        isServed: await isPolled(connection, { namespace, taskQueue, since: Date.now() - POLL_MILLISECONDS }),
      };
    });
  } finally {
    await connection.close();
  }
}

function judgeTemporal(temporal: TemporalAddress, { retentionHours, missing }: TemporalFound): Finding {
  const { address, namespace, codec } = temporal;
  const isSecure = temporal.tls !== undefined && temporal.tls !== false;
  const how = `${isSecure ? ' with TLS' : ''}${temporal.apiKey === undefined ? '' : ' and an API key'}`;
  if (missing.length > 0)
    return warning(
      'Temporal',
      `${address} answers; namespace ${namespace} lacks the search attributes ${missing.join(', ')}`,
      `start a worker that may create them, or: ${commandsFor(namespace, missing).join(', or: ')}`,
    );
  const coded = codec === undefined ? '' : `, the codec server ${codec.endpoint} works`;
  return ok(
    'Temporal',
    `${address} answers${how}, namespace ${namespace} exists and keeps closed turns for ${retentionHours} h${coded}`,
  );
}

function judgeWorkers(taskQueue: string, isServed: boolean): Finding {
  return isServed
    ? ok('worker', `one serves the task queue ${taskQueue}`)
    : warning(
        'worker',
        `none serves the task queue ${taskQueue}: turns wait`,
        'npx holdfast worker, with the HOLDFAST_TASK_QUEUE of this command',
      );
}

/** The Temporal server that commands would use; none when none runs: the check of its CLI says whether one could. */
export async function checkTemporal(
  options: ServerCheckOptions,
  address: Parameters<typeof temporalAt>[0] | null,
): Promise<readonly Finding[]> {
  if (address === null) return [ok('Temporal', 'none is running now')];
  try {
    const temporal = temporalAt(address, options.environment);
    const taskQueue = options.environment['HOLDFAST_TASK_QUEUE'] || DEFAULT_TURN_TASK_QUEUE;
    const found = await askTemporal(temporal, taskQueue);
    return [judgeTemporal(temporal, found), judgeWorkers(taskQueue, found.isServed)];
  } catch (error) {
    const own = (options.environment['TEMPORAL_ADDRESS'] ?? '') === '';
    const fix = own
      ? 'npx holdfast dev, and read .holdfast/logs/temporal.log'
      : 'correct TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, the key, the certificates or the profile (docs/connections.md), or unset them';
    return [
      broken(
        'Temporal',
        `${address.temporalAddress}: ${messageOf(error)}`,
        error instanceof TemporalError ? error.advice : fix,
      ),
    ];
  }
}

/** Are the stack's ports its own or free? A taken one is no fault: the next start chooses another. */
export async function checkPorts(options: ServerCheckOptions): Promise<Finding> {
  const check = 'ports';
  if (isStackRunning(options.directory)) return ok(check, 'in use by the running stack');
  const ports = { ...DEFAULT_PORTS, ...rememberedPorts(options.stack) };
  const taken: string[] = [];
  for (const [name, port] of Object.entries(ports)) {
    if (!(await isPortFree(port))) taken.push(`${port} (${name})`);
  }
  if (taken.length === 0) return ok(check, `free: ${Object.values(ports).join(', ')}`);
  return warning(
    check,
    `taken by other programs: ${taken.join(', ')}`,
    'nothing to do: npx holdfast dev chooses others',
  );
}
