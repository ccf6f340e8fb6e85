import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { copyProject, LINK_PACKAGES } from '../support/project-copy.ts';
import type { Outcome, ProjectCopy } from '../support/project-copy.ts';

let project: ProjectCopy;

async function setUp(environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return project.run('scripts/setup.mjs', [], environment);
}

const NOTHING_TO_DO: Outcome = { code: 0, stdout: '', stderr: '' };

describe('set-up', () => {
  beforeEach(async () => {
    project = await copyProject({ hasSources: false });
  });
  afterEach(async () => project.remove());

  test('of a fresh clone says what it does; the second time there is nothing to do and nothing to say', async () => {
    await project.remove();
    project = await copyProject();
    const first = await setUp();
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect(first.stderr).toMatch(/npm ci[^]*Set-up is complete/);
    expect(await setUp()).toEqual(NOTHING_TO_DO);
    expect(await project.npmCalls()).toBe(1);
    const help = await project.run('node_modules/.bin/holdfast', ['--help']);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: holdfast') });
  });

  test('two at once: one works, the other waits and then has nothing to do', async () => {
    await project.setNpm(`sleep 3\n${LINK_PACKAGES}`);
    const outcomes = await Promise.all([setUp(), setUp()]);
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
    expect(await project.npmCalls()).toBe(1);
    const texts = outcomes.map(({ stderr }) => stderr).toSorted((left, right) => left.length - right.length);
    expect(texts[0]).toMatch(/^holdfast: Waiting for another set-up \(process \d+\)\n$/);
    expect(texts[1]).toContain('Set-up is complete');
  });

  test('installs again for another lockfile, not for one that was only written again', async () => {
    await setUp();
    const lockfile = join(project.root, 'package-lock.json');
    const later = new Date(Date.now() + 60_000);
    await utimes(lockfile, later, later);
    expect(await setUp()).toEqual(NOTHING_TO_DO);
    await writeFile(lockfile, `${await readFile(lockfile, 'utf8')}\n`);
    await utimes(lockfile, later, later);
    expect((await setUp()).code).toBe(0);
    expect(await project.npmCalls()).toBe(2);
  });

  test('no npm on PATH is one message with the next step', async () => {
    await rm(join(project.root, 'programs', 'npm'));
    expect(await setUp()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/There is no npm on PATH.*\nNext: Install/),
    });
  });

  test('a Node that is too old is one message with the next step', async () => {
    const versions = join(project.root, 'scripts', 'versions.json');
    await writeFile(versions, (await readFile(versions, 'utf8')).replace(/"node": "[^"]*"/, '"node": "99.1.0"'));
    const expected = {
      code: 1,
      stderr: expect.stringMatching(/Node [\d.]+ is too old; Holdfast needs 99\.1\.0.*\nNext: install/),
    };
    expect(await setUp()).toMatchObject(expected);
    expect(await project.run('scripts/run.mjs', ['demo'])).toMatchObject(expected);
    expect(await project.run('bin/holdfast.js', ['--help'])).toMatchObject(expected);
  });

  test('a Temporal CLI that is named and missing is one message with the next step, also when all else is done', async () => {
    const environment = { HOLDFAST_TEMPORAL_CLI: '/nowhere/temporal' };
    const expected = {
      code: 1,
      stderr: expect.stringMatching(/HOLDFAST_TEMPORAL_CLI names \/nowhere\/temporal.*\nNext: Correct/),
    };
    expect(await setUp(environment)).toMatchObject(expected);
    expect((await setUp()).code).toBe(0);
    expect(await setUp(environment)).toMatchObject(expected);
  });
});

const WITHOUT_CLI = {
  HOLDFAST_TEMPORAL_CLI: '',
  HOLDFAST_TEMPORAL_DOWNLOAD: 'http://127.0.0.1:9',
} as const;

/** @param disguise what is run first, as if the machine were another */
async function expectDisguised(disguise: string, message: RegExp): Promise<void> {
  const outcome = await setUp({
    ...WITHOUT_CLI,
    HOLDFAST_CACHE: join(project.root, 'cache'),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(disguise)}`,
  });
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
}

// In one clone, one after another: none of them gets it set up, and the last two alone get packages.
describe('a set-up that fails', () => {
  beforeAll(async () => {
    project = await copyProject({ hasSources: false });
  });
  afterAll(async () => project.remove());

  test('a clone that is not set up says so instead of failing on an import', async () => {
    expect(await project.run('bin/holdfast.js', ['list'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not set up.*\nNext: npm run setup/),
    });
  });

  test('a Linux without glibc is one message with the next step', async () => {
    await expectDisguised(
      "Object.defineProperty(process, 'platform', { value: 'linux' }); process.report.getReport = () => ({ header: {} })",
      /uses musl instead of glibc.*\nNext: Use a Debian/,
    );
  });

  test.each([
    ['a full disk', 'echo "npm error code ENOSPC" >&2; exit 1', /The disk is full.*\nNext: Free 1 GB/],
    [
      'no write permission',
      'echo "npm error code EACCES" >&2; exit 1',
      /No write permission.*\nNext: Run as the owner/,
    ],
    [
      'no network',
      'echo "npm error code ENOTFOUND" >&2; exit 1',
      /could not reach the package registry[^]*\nNext: Check the network/,
    ],
    [
      'anything else',
      'echo "npm error lockfile is broken" >&2; exit 1',
      /npm ci failed:\n {4}npm error lockfile is broken\nNext: /,
    ],
  ])('%s while npm works is one message with the next step', async (_name, script, message) => {
    await project.setNpm(script);
    const outcome = await setUp();
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).not.toContain('    at ');
  });

  test('without Python and without a download there is one message with both reasons and the next step', async () => {
    await project.setNpm(LINK_PACKAGES);
    const outcome = await setUp({ ...WITHOUT_CLI, HOLDFAST_CACHE: join(project.root, 'cache') });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(
      /could not be downloaded:\n {2}- there is no Python 3 on PATH\n {2}- http:\/\/127\.0\.0\.1:9\/cli.*could not be reached.*\nNext: Install Python 3/,
    );
  });

  test('a platform without a Temporal CLI is one message with the next step', async () => {
    await expectDisguised(
      "Object.defineProperty(process, 'platform', { value: 'sunos' })",
      /There is no Temporal CLI for sunos-\w+\.\nNext: Use Linux or macOS/,
    );
  });
});
