import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { AS_APPLICATION, localDatabaseUrl } from './postgres/postgres-login.ts';
import { errorCode, StackError } from './stack-error.ts';
import { stackFilePath, stateDirectory } from './state-folder.ts';

export { STATE_FOLDER, stateDirectory } from './state-folder.ts';

const rememberedProcess = z.object({ processId: z.number().int().positive(), start: z.string() });

/** What `.holdfast/stack.json` holds: addresses, never a password or key. It stays after a stop, so that ports stay the same. */
const stackFile = z.object({
  version: z.literal(1),
  /** Null where DATABASE_URL, TEMPORAL_ADDRESS or HOLDFAST_SIMULATOR_URL named a server of the user's own. */
  postgres: z.object({ port: z.number().int(), database: z.string(), dataDirectory: z.string() }).nullable(),
  temporal: z.object({ address: z.string(), namespace: z.string(), uiUrl: z.string().nullable() }).nullable(),
  simulator: z.object({ url: z.string() }).nullable(),
  /** Null where none was asked for. */
  server: z.object({ url: z.string() }).nullable().default(null),
  /** Of the running stack, or of one that was killed: the next start ends them. */
  processes: z.record(z.string(), rememberedProcess),
});

export type Stack = z.infer<typeof stackFile>;

/**
 * The local stack's addresses, or null when no stack was ever started here.
 *
 * @throws StackError `stack_file_invalid` when the file is not what Holdfast writes.
 */
export function readStack(directory: string = stateDirectory()): Stack | null {
  const path = stackFilePath(directory);
  try {
    return stackFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return null;
    if (code !== null) throw error;
    const detail = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new StackError(
      'stack_file_invalid',
      `${path} cannot be read: ${detail}.`,
      'Delete it and run `npx holdfast dev` again; ports are then chosen anew.',
      { cause: error },
    );
  }
}

/** Writes the file in one step: a reader sees the old content or the new one. */
export async function writeStack(directory: string, stack: Stack): Promise<void> {
  const path = stackFilePath(directory);
  const temporary = `${path}.${process.pid}`;
  try {
    await writeFile(temporary, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Where a command finds its servers. */
export interface Connections {
  /** `host:port` */
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  /** With the password: for connecting, not for printing. */
  readonly databaseUrl: string;
  /** The same database without a pooler in between; `null`: `databaseUrl` needs none. */
  readonly databaseListenUrl: string | null;
  /** Base URL of the simulator, null when there is none. */
  readonly simulatorUrl: string | null;
}

/** Any address will do where nobody connects to it. */
export const UNUSED_ADDRESS = 'unused:0';

function given(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = environment[name];
  return value === undefined || value === '' ? undefined : value;
}

function urlOf({ dataDirectory, port, database }: NonNullable<Stack['postgres']>): string {
  try {
    return `${localDatabaseUrl(dataDirectory, port, database)}${AS_APPLICATION}`;
  } catch (error) {
    throw new StackError(
      'stack_not_started',
      `The password of the local Postgres in ${dataDirectory} cannot be read (${errorCode(error) ?? String(error)}).`,
      'Run `npx holdfast dev` in this folder, as the user who ran it before, or set DATABASE_URL.',
      { cause: error },
    );
  }
}

/**
 * Addresses from `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `DATABASE_URL` and `HOLDFAST_SIMULATOR_URL`, which always win, else
 * from the local stack.
 *
 * @throws StackError `stack_not_started` when neither names a server, or the stack is another user's.
 */
export function resolveConnections(environment: NodeJS.ProcessEnv, stack: Stack | null): Connections {
  const missing = (what: string, variable: string): StackError =>
    new StackError(
      'stack_not_started',
      `No ${what} is known.`,
      `Run \`npx holdfast dev\` in this folder, or set ${variable}.`,
    );
  const temporalAddress = given(environment, 'TEMPORAL_ADDRESS') ?? stack?.temporal?.address;
  if (temporalAddress === undefined) throw missing('Temporal server', 'TEMPORAL_ADDRESS');
  const localPostgres = stack?.postgres ?? null;
  const namedDatabase = given(environment, 'DATABASE_URL');
  const databaseUrl = namedDatabase ?? (localPostgres === null ? undefined : urlOf(localPostgres));
  if (databaseUrl === undefined) throw missing('database', 'DATABASE_URL');
  return {
    temporalAddress,
    temporalNamespace: given(environment, 'TEMPORAL_NAMESPACE') ?? stack?.temporal?.namespace ?? 'default',
    databaseUrl,
    databaseListenUrl: namedDatabase === undefined ? null : (given(environment, 'DATABASE_LISTEN_URL') ?? null),
    simulatorUrl: given(environment, 'HOLDFAST_SIMULATOR_URL') ?? stack?.simulator?.url ?? null,
  };
}
