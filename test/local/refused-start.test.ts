import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_HOST } from '../../src/local/ports.ts';
import { isStackRunning, startLocalStack } from '../../src/local/stack.ts';
import type { LocalStack } from '../../src/local/stack.ts';
import type { LocalStackOptions } from '../../src/local/stack-options.ts';
import { temporaryDirectory } from '../support/servers.ts';

let project: string;
let directory: string;

beforeAll(async () => {
  project = await temporaryDirectory('refused');
  directory = join(project, '.holdfast');
});
afterAll(async () => rm(project, { recursive: true, force: true }));

/** A stack of Temporal alone; none of these tests gets as far as a server. */
async function start(options: Partial<LocalStackOptions>): Promise<LocalStack> {
  return startLocalStack({ directory, services: ['temporal'], isAnyPortGood: true, ...options });
}

test.each([
  ['in /proc', '/proc/holdfast/.holdfast'],
  ['/proc itself', '/proc'],
  ['a file', 'file'],
  ['below a file', 'file/.holdfast'],
  ['a link to nothing', 'dangling'],
  ['a name that is too long', 'n'.repeat(300)],
])('a folder that cannot be used is one clear message: %s', async (_what, path) => {
  await writeFile(join(project, 'file'), '');
  await rm(join(project, 'dangling'), { force: true });
  await symlink(join(project, 'nowhere'), join(project, 'dangling'));
  const unusable = resolve(project, path);
  await expect(start({ directory: unusable })).rejects.toMatchObject({
    code: 'directory_unusable',
    message: expect.stringContaining(unusable),
    fix: expect.stringContaining('--directory'),
  });
});

test('an abort ends a start that waits for a download that never comes', async () => {
  const silent = createServer();
  const port = await new Promise<number>((listening) => {
    silent.listen(0, LOCAL_HOST, () => listening((silent.address() as AddressInfo).port));
  });
  const environment = {
    PATH: '/nonexistent',
    HOLDFAST_CACHE: join(project, 'empty-cache'),
    HOLDFAST_TEMPORAL_DOWNLOAD: `http://${LOCAL_HOST}:${port}`,
  };
  const abort = new AbortController();
  silent.once('connection', () => abort.abort(new Error('enough')));
  await expect(start({ environment, signal: abort.signal })).rejects.toThrow('enough');
  expect(isStackRunning(directory)).toBe(false);
  silent.closeAllConnections();
  silent.close();
});

test('without a Temporal CLI, and without a way to get one, says both reasons and what to do', async () => {
  const environment = {
    PATH: '/nonexistent',
    HOLDFAST_CACHE: join(project, 'cache'),
    HOLDFAST_TEMPORAL_DOWNLOAD: `http://${LOCAL_HOST}:9`,
  };
  const progress: string[] = [];
  const starting = start({ environment, onProgress: (text) => progress.push(text) });
  await expect(starting).rejects.toMatchObject({
    code: 'temporal_missing',
    message: expect.stringMatching(/no Python 3 on PATH[^]*could not be reached/),
    fix: expect.stringContaining('HOLDFAST_TEMPORAL_CLI'),
  });
  expect(progress).toEqual([expect.stringContaining('Downloading the Temporal CLI')]);
  const named = start({ environment: { HOLDFAST_TEMPORAL_CLI: '/nowhere' } });
  await expect(named).rejects.toMatchObject({
    code: 'temporal_missing',
    message: expect.stringContaining('/nowhere'),
  });
});
