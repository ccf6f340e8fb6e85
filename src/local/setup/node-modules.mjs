import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, lstat, mkdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainOutput, lastLines, SetupFailure } from './failure.mjs';
import { runProgram } from './run-program.mjs';

/** Written by npm as the last thing it does. */
const NPM_MARKER = 'node_modules/.package-lock.json';
/** Ours, inside node_modules so that it disappears with it: which lockfile was installed, and what was checked since. */
const STAMP = 'node_modules/.holdfast-setup.json';

/** @param {string} root */
function lockfileDigest(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/**
 * @param {string} root
 * @returns {{ lockfile?: string, temporalOnPath?: { fingerprint: string, version: string | null } | null }}
 */
export function readStamp(root) {
  try {
    return JSON.parse(readFileSync(join(root, STAMP), 'utf8'));
  } catch {
    return {};
  }
}

/**
 * @param {string} root
 * @param {{ fingerprint: string, version: string | null } | null} temporalOnPath
 */
export async function writeStamp(root, temporalOnPath) {
  await writeFile(join(root, STAMP), JSON.stringify({ lockfile: lockfileDigest(root), temporalOnPath }));
}

/**
 * True when `npm ci` has to run: nothing installed, an installation that was cut off, or an older lockfile. Times alone do not
 * tell: git gives a file that it writes again a new time, so the content has the last word.
 *
 * @param {string} root
 */
export function needsInstallation(root) {
  const marker = join(root, NPM_MARKER);
  if (!existsSync(marker)) return true;
  if (statSync(marker).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs) return false;
  return readStamp(root).lockfile !== lockfileDigest(root);
}

/** The C library that Temporal's native module needs is missing on Alpine. */
function refuseMusl() {
  if (process.platform !== 'linux') return;
  // Without this the report looks up the names of all open connections.
  process.report.excludeNetwork = true;
  const report = process.report.getReport();
  const header = typeof report === 'string' ? JSON.parse(report).header : report.header;
  if (header.glibcVersionRuntime === undefined) {
    throw new SetupFailure(
      'This Linux uses musl instead of glibc; Temporal has no native module for it.',
      'Use a Debian, Ubuntu, Fedora or other glibc image instead of Alpine.',
    );
  }
}

/**
 * Runs `npm ci`.
 *
 * @param {string} root
 * @param {(line: string) => void} say
 */
export async function installPackages(root, say) {
  refuseMusl();
  say('Installing npm packages (npm ci)');
  const environment = { ...process.env };
  // Else npm leaves out what the demo and the tests run with.
  delete environment.NODE_ENV;
  const npmArguments = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const script = process.env.npm_execpath;
  const viaNode = script !== undefined && /npm-cli\.c?js$/.test(script);
  const result = viaNode
    ? await runProgram(process.execPath, [script, ...npmArguments], { cwd: root, environment })
    : await runProgram('npm', npmArguments, { cwd: root, environment });
  if (result.status === 0) return;
  if (result.missing)
    throw new SetupFailure('There is no npm on PATH.', 'Install Node.js together with npm: https://nodejs.org');
  throw explainOutput(result.output, `npm ci in ${root}`) ?? npmFailure(result.output);
}

/** @param {string} output */
function npmFailure(output) {
  if (/ENOTFOUND|ETIMEDOUT|ECONNREFUSED|ECONNRESET|EAI_AGAIN/.test(output)) {
    return new SetupFailure(
      `npm ci could not reach the package registry:\n${lastLines(output)}`,
      'Check the network and `npm config get registry`, then run the command again.',
    );
  }
  return new SetupFailure(`npm ci failed:\n${lastLines(output)}`, 'Fix what npm says and run the command again.');
}

/**
 * Lets `npx holdfast` find the clone's own program: npm links the programs of dependencies only.
 *
 * @param {string} root
 */
export async function linkProgram(root) {
  const link = join(root, 'node_modules/.bin/holdfast');
  const target = join('..', '..', 'bin', 'holdfast.js');
  await chmod(join(root, 'bin/holdfast.js'), 0o755);
  if ((await readlink(link).catch(() => null)) === target) return;
  await mkdir(join(root, 'node_modules/.bin'), { recursive: true });
  if ((await lstat(link).catch(() => null)) !== null) await rm(link);
  await symlink(target, link);
}

/** @param {string} root */
export function isProgramLinked(root) {
  return existsSync(join(root, 'node_modules/.bin/holdfast'));
}
