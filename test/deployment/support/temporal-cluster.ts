import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { serverEnvironment, startGuardedProcess } from '../../../src/local/guarded-process.ts';
import { isPortFree } from '../../../src/local/ports.ts';
import { connectDatabase } from '../../../src/store/database/database.ts';
import { connectionOptions, readTemporalProfile } from '../../../src/temporal/profile.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startTestPostgres } from '../../support/servers.ts';
import type { Certificates } from './certificates.ts';

const SERVER_VERSION = 'v1.32.0';
const CACHE = fileURLToPath(new URL('../../../.holdfast/temporal-server', import.meta.url));

/** Built by Go, once: eight minutes. Both programs install under names of their own only in folders of their own. */
function provide(program: 'server' | 'sql', source: string): string {
  const folder = join(process.env['HOLDFAST_TEMPORAL_SERVER'] ?? CACHE, program);
  const path = join(folder, program);
  if (existsSync(path)) return path;
  process.stdout.write(`building ${source} with Go\n`);
  const { status } = spawnSync('go', ['install', `${source}@${SERVER_VERSION}`], {
    env: { ...process.env, GOBIN: folder },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`Go could not build ${source}@${SERVER_VERSION}`);
  return path;
}

export interface TemporalCluster {
  /** Variables by which a client or worker reaches it. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Temporal's server on a Postgres of its own; each caller must show a certificate of the authority. It has no namespace yet. */
export async function startTemporalCluster(directory: string, certificates: Certificates): Promise<TemporalCluster> {
  const [server, sql] = [
    provide('server', 'go.temporal.io/server/cmd/server'),
    provide('sql', 'go.temporal.io/server/cmd/tools/sql'),
  ];
  const postgres = await startTestPostgres();
  const login = new URL(postgres.url('postgres'));
  await makeLoginsUsual(login);
  const database = {
    host: login.hostname,
    port: login.port,
    user: login.username,
    password: decodeURIComponent(login.password),
  };
  makeSchema(sql, database);
  const names = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'];
  const ports: Record<string, string> = {};
  for (const name of names) {
    ports[`${name}_GRPC_PORT`] = String(await lowPort());
    ports[`${name}_MEMBERSHIP_PORT`] = String(await lowPort());
  }
  ports['FRONTEND_HTTP_PORT'] = String(await lowPort());
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'dynamic.yaml'), 'limit.maxIDLength:\n  - value: 255\n');
  const cluster = await startGuardedProcess({
    name: 'Temporal',
    command: server,
    arguments: ['--allow-no-auth', 'start'],
    environment: {
      ...serverEnvironment(),
      DB: 'postgres12_pgx',
      POSTGRES_SEEDS: database.host,
      DB_PORT: database.port,
      POSTGRES_USER: database.user,
      POSTGRES_PWD: database.password,
      DBNAME: 'temporal',
      VISIBILITY_DBNAME: 'temporal_visibility',
      NUM_HISTORY_SHARDS: '4',
      BIND_ON_IP: '127.0.0.1',
      TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
      DYNAMIC_CONFIG_FILE_PATH: join(directory, 'dynamic.yaml'),
      ...ports,
      ...serverTls(certificates),
    },
    workingDirectory: directory,
    logFile: join(directory, 'temporal-cluster.log'),
  });
  const environment = {
    TEMPORAL_ADDRESS: `localhost:${ports['FRONTEND_GRPC_PORT'] ?? ''}`,
    TEMPORAL_NAMESPACE: 'holdfast-deployment',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: certificates.authority,
    TEMPORAL_TLS_CLIENT_CERT_PATH: certificates.client,
    TEMPORAL_TLS_CLIENT_KEY_PATH: certificates.clientKey,
  };
  await waitUntil('Temporal answers', () => answers(environment));
  return {
    environment,
    async stop() {
      await cluster.stop();
      await postgres.stop();
    },
  };
}

let nextPort = 20_000 + (process.pid % 1_000) * 10;

/** A free port that a signed 16-bit number holds: as such Temporal's server stores it. */
async function lowPort(): Promise<number> {
  do nextPort += 1;
  while (!(await isPortFree(nextPort)));
  return nextPort;
}

/** The driver of Temporal's server refuses the one round of hashing of a test's Postgres. */
async function makeLoginsUsual({ href, password }: URL): Promise<void> {
  const sql = connectDatabase({ url: href, maximumConnections: 1 });
  await sql.unsafe(`set scram_iterations = 4096; alter role current_user password '${password}'`);
  await sql.end();
}

interface DatabaseLogin {
  readonly host: string;
  readonly port: string;
  readonly user: string;
  readonly password: string;
}

function makeSchema(sql: string, { host, port, user, password }: DatabaseLogin): void {
  const environment = {
    ...serverEnvironment(),
    SQL_PLUGIN: 'postgres12',
    SQL_HOST: host,
    SQL_PORT: port,
    SQL_USER: user,
    SQL_PASSWORD: password,
  };
  const folders = { temporal: 'temporal', temporal_visibility: 'visibility' };
  for (const [name, folder] of Object.entries(folders)) {
    const steps = [
      ['create'],
      ['setup-schema', '-v', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${folder}`],
    ];
    for (const step of steps) {
      const { status, stderr } = spawnSync(sql, ['--db', name, ...step], { env: environment, encoding: 'utf8' });
      if (status !== 0) throw new Error(`Temporal's schema: ${step[0] ?? ''} failed: ${stderr}`);
    }
  }
}

function serverTls({ authority, server, serverKey }: Certificates): Record<string, string> {
  return {
    TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
    TEMPORAL_TLS_SERVER_CA_CERT: authority,
    TEMPORAL_TLS_SERVER_CERT: server,
    TEMPORAL_TLS_SERVER_KEY: serverKey,
    TEMPORAL_TLS_INTERNODE_SERVER_NAME: 'localhost',
    TEMPORAL_TLS_FRONTEND_CERT: server,
    TEMPORAL_TLS_FRONTEND_KEY: serverKey,
    TEMPORAL_TLS_CLIENT1_CA_CERT: authority,
    TEMPORAL_TLS_CLIENT2_CA_CERT: authority,
    TEMPORAL_TLS_FRONTEND_SERVER_NAME: 'localhost',
  };
}

async function answers(environment: Readonly<Record<string, string>>): Promise<boolean> {
  const profile = readTemporalProfile(environment);
  const connection = Connection.lazy(connectionOptions({ address: '', namespace: '', ...profile }));
  try {
    await connection.withDeadline(Date.now() + 2_000, () => connection.workflowService.getSystemInfo({}));
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
