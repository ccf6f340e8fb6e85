import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { explainNode } from '../setup/check-node.mjs';
import { findTemporalCli, isAtLeast, temporalCliVersion, versions } from '../setup/temporal-cli.mjs';
import { needsInstallation } from '../setup/node-modules.mjs';
import { errorCode } from '../stack-error.ts';
import { isDiskFull } from '../full-disk.ts';
import { makeDirectory } from '../state-directory.ts';
import { broken, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export function checkNode(version: string = process.versions.node): Finding {
  const check = 'Node.js';
  return explainNode(version, versions.node) === null
    ? ok(check, version)
    : broken(check, `${version} is too old`, `install ${versions.node} or newer from https://nodejs.org`);
}

/** In a clone: is what the lockfile names installed? An installed package has no lockfile of its own. */
export function checkPackages(root: string = ROOT): Finding {
  const check = 'npm packages';
  if (!existsSync(join(root, 'package-lock.json'))) return ok(check, 'installed as a package');
  return needsInstallation(root)
    ? broken(check, 'missing or older than the lockfile', 'npm run setup')
    : ok(check, 'as the lockfile names them');
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The CLI that would be used: can it be run, is it new enough, and is a downloaded one still the one that was checked? */
export async function checkTemporalCli(environment: NodeJS.ProcessEnv): Promise<Finding> {
  const check = 'Temporal CLI';
  if ((environment['TEMPORAL_ADDRESS'] ?? '') !== '') return ok(check, 'not needed: TEMPORAL_ADDRESS is set');
  const found = findTemporalCli(environment);
  if (found === null)
    return broken(check, 'not found', 'npx holdfast dev downloads it, or set HOLDFAST_TEMPORAL_CLI to its path');
  const version = temporalCliVersion(found.path);
  if (version === null)
    return broken(
      check,
      `${found.path} cannot be run`,
      'correct HOLDFAST_TEMPORAL_CLI, or delete the file and run npm run setup',
    );
  const { minimumVersion, binaries } = versions.temporal;
  if (!isAtLeast(version, minimumVersion)) {
    return broken(
      check,
      `${version} (${found.path}) is too old`,
      `use ${minimumVersion} or newer, or unset HOLDFAST_TEMPORAL_CLI`,
    );
  }
  const expected = binaries[`${process.platform}-${process.arch}`]?.sha256;
  if (found.source === 'cache' && expected !== (await sha256(found.path))) {
    return broken(check, `${found.path} was changed or damaged`, 'delete it and run npm run setup');
  }
  return ok(check, `${version} (${found.path})`);
}

const GIGABYTE = 1_000_000_000;
/** Below it a long turn's data may not fit; a full disk stops Postgres. */
const WARNING_BYTES = GIGABYTE;
const BROKEN_BYTES = 200_000_000;

/** Room for data where the stack keeps it. */
export function judgeDisk(freeBytes: number, directory: string): Finding {
  const check = 'disk';
  const detail = `${(freeBytes / GIGABYTE).toFixed(1)} GB free in ${directory}`;
  if (freeBytes < BROKEN_BYTES) return broken(check, detail, 'free at least 1 GB: Postgres stops on a full disk');
  return freeBytes < WARNING_BYTES ? warning(check, detail, 'free at least 1 GB') : ok(check, detail);
}

export async function checkDisk(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  return judgeDisk(bavail * bsize, directory);
}

/** Can a file be written here? Asked by writing one, since modes alone do not tell (read-only mounts, quotas). */
export async function checkWritable(directory: string): Promise<Finding> {
  const check = 'workspace';
  const probe = join(directory, `.holdfast-probe-${process.pid}`);
  try {
    await makeDirectory(directory);
    await writeFile(probe, 'probe');
    return ok(check, `${directory} is writable`);
  } catch (error) {
    return broken(
      check,
      `${directory} cannot be written (${errorCode(error) ?? String(error)})`,
      isDiskFull(error) ? 'make room on its disk' : 'run in a folder of your own, or change its owner',
    );
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}
