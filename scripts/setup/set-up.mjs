import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuseFullDisk } from '../../src/local/setup/disk.mjs';
import { explainFileError, SetupFailure } from '../../src/local/setup/failure.mjs';
import { waitForLock } from '../../src/local/setup/lock.mjs';
import {
  installPackages,
  isProgramLinked,
  linkProgram,
  needsInstallation,
  readStamp,
  writeStamp,
} from '../../src/local/setup/node-modules.mjs';
import { findTemporalCli, isExecutableFile, temporalOnPath } from '../../src/local/setup/temporal-cli.mjs';
import { bringTemporalCliToCache } from '../../src/local/setup/temporal-download.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What npm installs, and some air. */
const INSTALLATION_BYTES = 900_000_000;

/** @param {string} line */
function sayOnStandardError(line) {
  process.stderr.write(`holdfast: ${line}\n`);
}

/** @param {string} path */
function refuseMissingCli(path) {
  if (isExecutableFile(path)) return;
  throw new SetupFailure(
    `HOLDFAST_TEMPORAL_CLI names ${path}, which is not a program that can be run.`,
    'Correct the path, or unset the variable to have the CLI downloaded.',
  );
}

/** True when there is nothing to do. Reads a few files and starts no process: it runs before every command. */
function isSetUp() {
  if (needsInstallation(ROOT) || !isProgramLinked(ROOT)) return false;
  const cli = findTemporalCli(process.env, readStamp(ROOT).temporalOnPath ?? null);
  if (cli?.source === 'environment') refuseMissingCli(cli.path);
  return cli !== null;
}

/** @param {(line: string) => void} say */
async function bringMissingCli(say) {
  const found = findTemporalCli();
  if (found?.source === 'environment') refuseMissingCli(found.path);
  if (found === null) await bringTemporalCliToCache(process.env, say);
}

/** @param {(line: string) => void} say */
async function setUpLocked(say) {
  const started = Date.now();
  if (needsInstallation(ROOT)) {
    await refuseFullDisk(ROOT, INSTALLATION_BYTES);
    await installPackages(ROOT, say);
  }
  await linkProgram(ROOT);
  await bringMissingCli(say);
  await writeStamp(ROOT, temporalOnPath(process.env));
  say(`Set-up is complete (${Math.round((Date.now() - started) / 1000)} s)`);
}

/**
 * Brings all that Holdfast needs to run in a clone. Says nothing when nothing is missing. Safe when two run at once: the
 * second waits and then finds nothing to do.
 *
 * @param {(line: string) => void} [say]
 */
export async function setUp(say = sayOnStandardError) {
  if (!existsSync(join(ROOT, 'package-lock.json'))) {
    throw new SetupFailure(`There is no package-lock.json in ${ROOT}.`, 'Clone the whole repository again.');
  }
  if (isSetUp()) return;
  try {
    const lock = await waitForLock(join(ROOT, '.holdfast', 'setup.lock'), (holder) =>
      say(`Waiting for another set-up (process ${holder})`),
    );
    try {
      if (!isSetUp()) await setUpLocked(say);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw explainFileError(error, `setting up ${ROOT}`);
  }
}

/**
 * Set-up as a program does it: a failure is one message and exit code 1.
 *
 * @returns {Promise<boolean>} false when it failed
 */
export async function setUpOrExplain() {
  try {
    await setUp();
    return true;
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    process.stderr.write(`holdfast: ${error.message}\nNext: ${error.next}\n`);
    return false;
  }
}
