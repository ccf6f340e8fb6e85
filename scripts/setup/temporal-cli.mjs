import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Every pinned version, and the digest of every binary that set-up brings. */
export const versions = JSON.parse(readFileSync(fileURLToPath(new URL('../versions.json', import.meta.url)), 'utf8'));

/**
 * Where binaries are kept: one folder per user, shared by all clones. `HOLDFAST_CACHE` names another one.
 *
 * @param {NodeJS.ProcessEnv} [environment]
 */
export function cacheDirectory(environment = process.env) {
  if (environment.HOLDFAST_CACHE) return environment.HOLDFAST_CACHE;
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'holdfast');
  return join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'holdfast');
}

/** The path that the pinned Temporal CLI has in the cache, also when it is not there yet. */
export function cachedTemporalCli(environment = process.env) {
  const platform = `${process.platform}-${process.arch}`;
  return join(cacheDirectory(environment), `temporal-${versions.temporal.version}-${platform}`, 'temporal');
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
 * Looks for a Temporal CLI that can be used now, without downloading: the one named by `HOLDFAST_TEMPORAL_CLI`, `temporal`
 * on PATH if new enough, the cache. Null when there is none.
 *
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {{ path: string, source: 'environment' | 'path' | 'cache' } | null}
 */
export function findTemporalCli(environment = process.env) {
  if (environment.HOLDFAST_TEMPORAL_CLI) return { path: environment.HOLDFAST_TEMPORAL_CLI, source: 'environment' };
  const onPath = findOnPath('temporal', environment);
  if (onPath !== null) {
    const version = temporalCliVersion(onPath);
    if (version !== null && isAtLeast(version, versions.temporal.minimumVersion))
      return { path: onPath, source: 'path' };
  }
  const cached = cachedTemporalCli(environment);
  return isExecutableFile(cached) ? { path: cached, source: 'cache' } : null;
}
