import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { ConnectionOptions as TlsOptions, SecureVersion } from 'node:tls';
import { StoreError } from './errors.ts';

/** What an address of Postgres and the `PG*` variables say, in the words of the driver. */
export interface ConnectionOptions {
  readonly host: string[];
  readonly port: number[];
  /** Of a Unix socket. */
  readonly path?: string;
  readonly database: string;
  readonly user: string;
  readonly pass: string;
  readonly ssl: TlsOptions | 'prefer' | false;
  readonly sslnegotiation: 'direct' | null;
  /** Seconds. */
  readonly connect_timeout: number;
  /** Seconds without traffic after which the kernel asks whether the server is still there. */
  readonly keep_alive: number;
  readonly target_session_attrs?: TargetSession;
  readonly applicationName: string | null;
  /** Of `options`: what `-c name=value` sets. */
  readonly settings: Readonly<Record<string, string>>;
  /** The rest of `options`, such as Neon's `endpoint=…`, which must be in the startup packet. */
  readonly startupOptions: string | null;
  /** Behind a pooler that gives each transaction another connection: nothing may be prepared or set for the session. */
  readonly pooled: boolean;
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const TARGET_SESSIONS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
const TLS_VERSIONS: readonly SecureVersion[] = ['TLSv1.2', 'TLSv1.3'];
type TargetSession = Exclude<(typeof TARGET_SESSIONS)[number], 'any'>;

/** Parameters that are read, with the variable that libpq reads for each. */
const VARIABLES = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslnegotiation: 'PGSSLNEGOTIATION',
  ssl_min_protocol_version: 'PGSSLMINPROTOCOLVERSION',
  channel_binding: 'PGCHANNELBINDING',
  gssencmode: 'PGGSSENCMODE',
  application_name: 'PGAPPNAME',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  options: 'PGOPTIONS',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  ssl: null,
  sslpassword: null,
  fallback_application_name: null,
  keepalives_idle: null,
  client_encoding: null,
  pgbouncer: null,
} as const;
type Parameter = keyof typeof VARIABLES;

/** Parameters of other clients, or for what Holdfast or the kernel decides. */
const LEFT_OUT = new Set(
  'schema connection_limit pool_timeout pool_max_conns socket_timeout statement_cache_size keepalives keepalives_interval keepalives_count tcp_user_timeout load_balance_hosts sslsni'.split(
    ' ',
  ),
);

/** Variables of libpq that say how to connect and are not read. */
const UNREAD_VARIABLES = ['PGHOSTADDR', 'PGPASSFILE', 'PGREQUIREAUTH', 'PGSERVICE', 'PGSSLCERTMODE', 'PGSSLCRL'];

const DEFAULT_PORT = 5432;
const DEFAULT_CONNECT_TIMEOUT_SECONDS = 9;
const DEFAULT_KEEP_ALIVE_SECONDS = 60;

/**
 * Reads an address of Postgres as libpq does: `postgres://user:password@host:port,host:port/database?parameter=value`.
 * What it does not say comes from the `PG*` variables.
 * @throws StoreError `database_url_invalid` naming the parameter; never the password
 */
export function readConnectionOptions(url: string, environment: Environment = process.env): ConnectionOptions {
  const { given, warnings } = readUrl(url);
  const read = (name: Parameter): string | undefined => {
    const variable = VARIABLES[name];
    return given.get(name) ?? (variable === null ? undefined : environment[variable] || undefined);
  };
  const hosts = (read('host') ?? 'localhost').split(',');
  const ports = (read('port') ?? String(DEFAULT_PORT)).split(',');
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw invalid('port', ports.join(','), `must be one port or one for each of the ${hosts.length} hosts`);
  const port = hosts.map((_, index) => wholeNumber('port', ports[index] || ports[0] || '', 1, 65_535));
  const socketFolder = hosts.find((host) => host.startsWith('/'));
  const user = read('user') ?? userInfo().username;
  warnings.push(...refuseUnsupported(read));
  const unread = UNREAD_VARIABLES.filter((name) => environment[name]);
  warnings.push(...unread.map((name) => `variable ${name} is not read: say it in the database's address`));
  const target = oneOf('target_session_attrs', read('target_session_attrs') ?? 'any', TARGET_SESSIONS);
  return {
    host: hosts,
    port,
    ...(socketFolder !== undefined && { path: `${socketFolder}/.s.PGSQL.${port[0]}` }),
    database: read('dbname') ?? user,
    user,
    pass: read('password') ?? '',
    ssl: socketFolder === undefined ? readTls(read) : false,
    sslnegotiation:
      oneOf('sslnegotiation', read('sslnegotiation') ?? 'postgres', ['postgres', 'direct']) === 'direct'
        ? 'direct'
        : null,
    connect_timeout:
      wholeNumber('connect_timeout', read('connect_timeout') ?? '0', 0, 3_600) || DEFAULT_CONNECT_TIMEOUT_SECONDS,
    keep_alive: wholeNumber('keepalives_idle', read('keepalives_idle') ?? '0', 0, 86_400) || DEFAULT_KEEP_ALIVE_SECONDS,
    ...(target !== 'any' && { target_session_attrs: target }),
    applicationName: read('application_name') ?? read('fallback_application_name') ?? null,
    ...readServerOptions(read('options') ?? ''),
    pooled: oneOf('pgbouncer', read('pgbouncer') ?? 'false', ['true', 'false']) === 'true',
    warnings,
  };
}

const OPTION = /(?:\\.|[^\s\\])+/gu;
const SETTING = /^(?:-c|--)(?<name>[\w.-]+)=(?<value>.*)$/su;

/** A pooler refuses `options` in the startup packet, so settings are sent after connecting. */
function readServerOptions(text: string): Pick<ConnectionOptions, 'settings' | 'startupOptions'> {
  const words = (text.match(OPTION) ?? []).map((word) => word.replaceAll(/\\(.)/gsu, '$1'));
  const joined = words.flatMap((word, index) =>
    words[index - 1] === '-c' ? [] : `${word}${word === '-c' ? (words[index + 1] ?? '') : ''}`,
  );
  const settings: Record<string, string> = {};
  const rest = joined.filter((word) => {
    const { name, value = '' } = SETTING.exec(word)?.groups ?? {};
    if (name !== undefined) settings[name.replaceAll('-', '_')] = value;
    return name === undefined;
  });
  return { settings, startupOptions: rest.length === 0 ? null : rest.join(' ') };
}

function isParameter(name: string): name is Parameter {
  return Object.hasOwn(VARIABLES, name);
}

const ADDRESS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<hosts>[^/?]*)(?:\/(?<database>[^?]*))?(?:\?(?<query>.*))?$/u;
const HOST = /^(?<host>\[[^\]]*\]|[^:@]*)(?::(?<port>\d*))?$/u;

function readUrl(url: string): { given: Map<Parameter, string>; warnings: string[] } {
  const { user, password, hosts = '', database, query } = ADDRESS.exec(url)?.groups ?? malformed();
  const given = new Map<Parameter, string>();
  const set = (name: Parameter, text: string | undefined): void => {
    if (text !== undefined && text !== '') given.set(name, decode(text));
  };
  const places = hosts.split(',').map((place) => HOST.exec(place)?.groups ?? malformed());
  set('user', user);
  set('password', password);
  set('dbname', database);
  set('host', places.map(({ host = '' }) => host.replaceAll(/^\[|\]$/gu, '')).join(','));
  if (places.some(({ port }) => port)) set('port', places.map(({ port }) => port || String(DEFAULT_PORT)).join(','));
  const warnings: string[] = [];
  for (const [name, text] of new URLSearchParams(query ?? '')) {
    if (LEFT_OUT.has(name)) warnings.push(`parameter ${name} of the database's address has no effect`);
    else if (!isParameter(name))
      throw new StoreError(
        'database_url_invalid',
        `the database's address has an unknown parameter${/^\w+$/u.test(name) ? ` ${name}` : ''}: remove it, and write %3F for ? in a password`,
      );
    else if (text !== '') given.set(name, text);
  }
  return { given, warnings };
}

/** Without the text that was read: it may hold a password. */
function malformed(): never {
  throw new StoreError(
    'database_url_invalid',
    'the address of the database cannot be read: write postgres://user:password@host:port/database, with %40 for @ and %2F for / in a password',
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return malformed();
  }
}

function invalid(name: Parameter, value: string, mustBe: string): StoreError {
  return new StoreError(
    'database_url_invalid',
    `parameter ${name} of the database's address is "${value}": it ${mustBe}`,
  );
}

function oneOf<Value extends string>(name: Parameter, value: string, values: readonly Value[]): Value {
  const found = values.find((one) => one === value);
  if (found === undefined) throw invalid(name, value, `must be one of ${values.join(', ')}`);
  return found;
}

function wholeNumber(name: Parameter, value: string, least: number, most: number): number {
  const number = Number(value);
  if (!/^\d+$/u.test(value) || number < least || number > most)
    throw invalid(name, value, `must be a whole number from ${least} to ${most}`);
  return number;
}

/** What the driver cannot do: refused where the user relies on it, else named. */
function refuseUnsupported(read: (name: Parameter) => string | undefined): string[] {
  const gss = oneOf('gssencmode', read('gssencmode') ?? 'prefer', ['disable', 'prefer', 'require']);
  if (gss === 'require') throw invalid('gssencmode', gss, 'must be disable or prefer: GSSAPI is not supported');
  const encoding = read('client_encoding');
  if (encoding !== undefined && !/^(?:utf-?8|unicode|auto)$/iu.test(encoding))
    throw invalid('client_encoding', encoding, 'must be UTF8');
  if (read('sslpassword') !== undefined && read('sslkey') === undefined)
    throw invalid('sslpassword', '…', 'needs sslkey beside it');
  const binding = oneOf('channel_binding', read('channel_binding') ?? 'prefer', ['disable', 'prefer', 'require']);
  return binding === 'require'
    ? [
        "parameter channel_binding of the database's address is left out: channel binding is not supported; sslmode=verify-full makes sure of the server instead",
      ]
    : [];
}

/** The TLS of `sslmode`, with libpq's meaning: `require` beside a root certificate checks the certificate as `verify-ca` does. */
function readTls(read: (name: Parameter) => string | undefined): TlsOptions | 'prefer' | false {
  const root = read('sslrootcert');
  const asked = read('ssl') === undefined ? 'prefer' : oneOf('ssl', read('ssl') ?? '', ['true', 'false']);
  const fallback =
    root === 'system' ? 'verify-full' : asked === 'true' ? 'require' : asked === 'false' ? 'disable' : asked;
  const mode = oneOf('sslmode', read('sslmode') ?? fallback, SSL_MODES);
  if (mode === 'disable') return false;
  const certificate = readCertificate('sslcert', read('sslcert'));
  const key = readCertificate('sslkey', read('sslkey'));
  if ((mode === 'allow' || mode === 'prefer') && certificate === undefined) return 'prefer';
  const verifies = mode === 'verify-full' || mode === 'verify-ca' || (mode === 'require' && root !== undefined);
  const minimum = read('ssl_min_protocol_version');
  const ca = root === 'system' ? undefined : readCertificate('sslrootcert', root);
  const password = read('sslpassword');
  return {
    rejectUnauthorized: verifies,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
    ...(password !== undefined && { passphrase: password }),
    ...(minimum !== undefined && { minVersion: oneOf('ssl_min_protocol_version', minimum, TLS_VERSIONS) }),
    // Only verify-full compares the name of the host with the certificate.
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

function readCertificate(name: Parameter, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StoreError(
      'database_url_invalid',
      `parameter ${name} of the database's address names ${path}, which cannot be read${error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''}: correct it`,
      { cause: error },
    );
  }
}
