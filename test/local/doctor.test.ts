import { createServer } from 'node:http';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { formatFinding } from '../../src/cli/services/doctor.ts';
import {
  checkNode,
  checkPackages,
  checkTemporalCli,
  checkWritable,
  judgeDisk,
} from '../../src/local/doctor/check-installation.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { checkModelKeys, providersOfEnvironment } from '../../src/local/doctor/check-model-key.ts';
import { judgeClock } from '../../src/local/doctor/check-servers.ts';
import { examine } from '../../src/local/doctor/examine.ts';
import type { Finding } from '../../src/local/doctor/finding.ts';
import { freePort, LOCAL_HOST } from '../../src/local/ports.ts';
import { parseOutput } from '../cli/cli-result.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { temporaryDirectory } from '../support/servers.ts';

let project: string;
beforeEach(async () => {
  project = await temporaryDirectory('doctor');
});
afterEach(async () => rm(project, { recursive: true, force: true }));

const base = { PATH: process.env['PATH'], HOME: process.env['HOME'] };

async function examined(environment: NodeJS.ProcessEnv): Promise<Map<string, Finding>> {
  const findings = await examine({ environment: { ...base, ...environment }, directory: join(project, '.holdfast') });
  return new Map(findings.map((finding) => [finding.check, finding]));
}

describe('the doctor', () => {
  test('finds nothing broken on a machine that is set up, where no server runs', async () => {
    const findings = await examined({});
    expect([...findings.values()].filter(({ status }) => status === 'broken')).toEqual([]);
    expect([...findings.keys()]).toEqual([
      'Node.js',
      'npm packages',
      'Temporal CLI',
      'workspace',
      'disk',
      'ports',
      'Postgres',
      'Temporal',
      'model key',
    ]);
    expect(findings.get('Postgres')?.detail).toMatch(/^18\.\d+\S* is installed; none is running now$/);
  });

  test('asks the servers that the environment names', async () => {
    const findings = await examined({
      DATABASE_URL: inject('databaseUrl'),
      TEMPORAL_ADDRESS: inject('temporalAddress'),
    });
    expect(findings.get('Postgres')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('answers on 127.0.0.1'),
    });
    expect(findings.get('Temporal')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('namespace default exists'),
    });
  });

  test('names a task queue that no worker serves, whose turns would wait', async () => {
    const findings = await examined({
      DATABASE_URL: inject('databaseUrl'),
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      HOLDFAST_TASK_QUEUE: 'nobody-serves-this',
    });
    expect(findings.get('worker')).toMatchObject({
      status: 'warning',
      detail: 'none serves the task queue nobody-serves-this: turns wait',
      fix: expect.stringContaining('npx holdfast worker'),
    });
  });

  test('says what a pooler without a direct connection beside it costs', async () => {
    const DATABASE_URL = `${inject('databaseUrl')}?pgbouncer=true`;
    const pooled = { DATABASE_URL, TEMPORAL_ADDRESS: inject('temporalAddress') };
    expect((await examined(pooled)).get('Postgres')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('by its heartbeats alone'),
      fix: expect.stringContaining('DATABASE_LISTEN_URL'),
    });
    const beside = await examined({ ...pooled, DATABASE_LISTEN_URL: inject('databaseUrl') });
    expect(beside.get('Postgres')).toMatchObject({ status: 'ok' });
  });

  test('names a server that does not answer, a wrong namespace, and the fix', async () => {
    const nobody = await freePort();
    const findings = await examined({
      DATABASE_URL: `postgresql://x:secret-password@127.0.0.1:${nobody}/x`,
      TEMPORAL_ADDRESS: `127.0.0.1:${nobody}`,
    });
    expect(findings.get('Postgres')).toMatchObject({ status: 'broken', fix: expect.stringContaining('DATABASE_URL') });
    expect(findings.get('Temporal')).toMatchObject({
      status: 'broken',
      fix: expect.stringContaining('TEMPORAL_ADDRESS'),
    });
    expect(JSON.stringify([...findings.values()])).not.toContain('secret-password');
    const wrong = await examined({
      DATABASE_URL: inject('databaseUrl'),
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      TEMPORAL_NAMESPACE: 'missing',
    });
    expect(wrong.get('Temporal')).toMatchObject({ status: 'broken', detail: expect.stringContaining('missing') });
  });

  test('finds a stack file that is damaged', async () => {
    await mkdir(join(project, '.holdfast'));
    await writeFile(join(project, '.holdfast', 'stack.json'), '{');
    const findings = await examined({
      DATABASE_URL: inject('databaseUrl'),
      TEMPORAL_ADDRESS: inject('temporalAddress'),
    });
    expect(findings.get('stack file')).toMatchObject({ status: 'broken', fix: expect.stringContaining('stack.json') });
  });

  test('finds an old Node', () => {
    expect(checkNode('18.20.0')).toMatchObject({ status: 'broken', fix: expect.stringContaining('20.19.0') });
    expect(checkNode('20.19.0').status).toBe('ok');
    expect(checkNode('26.1.0').status).toBe('ok');
  });

  test('finds packages that are missing', async () => {
    await writeFile(join(project, 'package-lock.json'), '{}');
    expect(checkPackages(project)).toMatchObject({ status: 'broken', fix: 'npm run setup' });
  });

  test('finds a Temporal CLI that is missing, broken, too old, or not the one that was checked', async () => {
    const cli = join(project, 'temporal');
    const environment = { PATH: '/nonexistent', HOLDFAST_CACHE: project, HOME: project };
    expect(await checkTemporalCli(environment)).toMatchObject({ status: 'broken', detail: 'not found' });
    await writeFile(cli, '#!/bin/sh\nexit 1\n');
    await chmod(cli, 0o755);
    expect(await checkTemporalCli({ ...environment, HOLDFAST_TEMPORAL_CLI: cli })).toMatchObject({
      status: 'broken',
      detail: expect.stringContaining('cannot be run'),
    });
    await writeFile(cli, '#!/bin/sh\necho "temporal version 1.1.0 (Server 1.25.0)"\n');
    expect(await checkTemporalCli({ ...environment, HOLDFAST_TEMPORAL_CLI: cli })).toMatchObject({
      status: 'broken',
      detail: expect.stringContaining('1.1.0'),
    });
    const cached = join(project, `temporal-1.9.1-${process.platform}-${process.arch}`);
    await mkdir(cached);
    await writeFile(join(cached, 'temporal'), '#!/bin/sh\necho "temporal version 1.9.1"\n', { mode: 0o755 });
    expect(await checkTemporalCli(environment)).toMatchObject({
      status: 'broken',
      detail: expect.stringContaining('changed or damaged'),
    });
  });

  test('judges the disk by what is free', () => {
    expect(judgeDisk(50e9, '/x').status).toBe('ok');
    expect(judgeDisk(0.5e9, '/x')).toMatchObject({ status: 'warning', detail: '0.5 GB free in /x' });
    expect(judgeDisk(0.1e9, '/x').status).toBe('broken');
  });

  test('judges the clock by its distance, in both directions', () => {
    expect([0, 1999, -1999].map((distance) => judgeClock(distance).status)).toEqual(['ok', 'ok', 'ok']);
    expect([2001, -2001, 60_000].map((distance) => judgeClock(distance).status)).toEqual([
      'warning',
      'warning',
      'warning',
    ]);
    expect(judgeClock(-61_000)).toMatchObject({ status: 'broken', detail: expect.stringContaining('61.0 s behind') });
  });

  test('finds a folder that cannot be written', async () => {
    await writeFile(join(project, 'file'), '');
    expect(await checkWritable(join(project, 'file'))).toMatchObject({
      status: 'broken',
      detail: expect.stringContaining('cannot be written'),
    });
    expect(await checkWritable(project)).toMatchObject({ status: 'ok' });
  });

  test('asks the provider about a key, and never repeats it', async () => {
    const key = 'sk-planted-key';
    const server = createServer((request, response) => {
      response.statusCode =
        request.headers['x-api-key'] === key || request.headers.authorization === 'Bearer good' ? 200 : 401;
      response.end('{}');
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, LOCAL_HOST, resolve));
    const url = `http://${LOCAL_HOST}:${port}`;
    const findings = await checkModelKeys(
      providersOfEnvironment({
        ANTHROPIC_API_KEY: key,
        ANTHROPIC_BASE_URL: url,
        OPENAI_API_KEY: 'bad',
        OPENAI_BASE_URL: url,
      }),
    );
    await writeFile(join(project, 'key'), 'good\n');
    await writeFile(
      join(project, 'holdfast.yaml'),
      `providers:
  filed: { protocol: chat, baseUrl: '${url}', apiKeyFile: key }
  printed: { protocol: chat, baseUrl: '${url}', apiKeyCommand: echo ${key} }
  lost: { protocol: chat, baseUrl: '${url}', apiKeyFile: gone }
  unset: { protocol: chat, baseUrl: '${url}', apiKeyVariable: PLANTED_ABSENT }`,
    );
    const { providers, unavailableProviders } = loadConfiguration({ directory: project, environment: {} });
    const configured = await checkModelKeys({ available: providers, unavailable: unavailableProviders });
    server.close();
    expect(findings.map(({ status }) => status)).toEqual(['ok', 'broken']);
    expect(configured).toMatchObject([
      { status: 'ok', detail: expect.stringContaining('the key of filed') },
      { status: 'broken', detail: expect.stringContaining('refuses the key of printed (401)') },
      { status: 'broken', detail: expect.stringContaining('the file with the key of lost gives none') },
      { status: 'warning', detail: 'the provider unset has no key', fix: 'set PLANTED_ABSENT' },
    ]);
    expect(JSON.stringify([...findings, ...configured])).not.toContain(key);
    const ofEnvironment = async (environment: NodeJS.ProcessEnv) =>
      (await checkModelKeys(providersOfEnvironment(environment)))[0];
    expect(await ofEnvironment({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url })).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('cannot be reached'),
    });
    expect(await ofEnvironment({ OPENAI_API_KEY: '"quoted"' })).toMatchObject({ status: 'broken' });
    expect(await ofEnvironment({})).toMatchObject({ status: 'ok', detail: expect.stringContaining('simulator') });
  });

  test('prints one line each, the fix at its end', () => {
    expect(formatFinding({ check: 'disk', status: 'broken', detail: 'full', fix: 'free 1 GB' })).toBe(
      'broken   disk          full → free 1 GB',
    );
    expect(formatFinding({ check: 'disk', status: 'ok', detail: 'fine', fix: null })).toBe(
      'ok       disk          fine',
    );
  });
});

describe('doctor --only', () => {
  const schema = z.object({ healthy: z.boolean(), findings: z.array(z.object({ check: z.string() })) });

  test('asks the named servers alone, as the healthcheck of the image does', async () => {
    const environment = { DATABASE_URL: inject('databaseUrl'), TEMPORAL_ADDRESS: inject('temporalAddress') };
    const result = await runInProcess(['doctor', '--only', 'temporal,postgres', '--json'], {
      directory: project,
      environment,
    });
    expect(result.code).toBe(0);
    expect(parseOutput(result, schema).findings.map(({ check }) => check)).toEqual([
      'Postgres',
      'clock',
      'Temporal',
      'worker',
    ]);
    const gone = { ...environment, TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const broken = await runInProcess(['doctor', '--only', 'temporal'], { directory: project, environment: gone });
    expect(broken).toMatchObject({ code: 5, stdout: expect.stringMatching(/^broken {3}Temporal/) });
    expect(await readdir(project)).toEqual([]);
  });

  test('names what it accepts', async () => {
    const result = await runInProcess(['doctor', '--only', 'temporal,database'], { directory: project });
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain('"database" is not known');
    expect(result.stderr).toContain('postgres, temporal, model-key');
  });
});
