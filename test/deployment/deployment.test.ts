import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DCLinter } from 'dclint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { DEFAULT_SHUTDOWN_GRACE_MILLISECONDS } from '../../src/worker/create-worker.ts';
import { serveHealth } from '../../src/worker/health.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPOSE_FILE = join(ROOT, 'docker-compose.yml');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Rules of the linter that are a matter of taste: they sort keys alphabetically, we by what a reader wants to know first. */
const TASTE = { 'service-keys-order': 0, 'services-alphabetical-order': 0 } as const;

const lintResults = z.array(
  z.object({ messages: z.array(z.object({ rule: z.string(), line: z.number(), message: z.string() })) }),
);

function lint(path: string): string[] {
  const linter = new DCLinter({ rules: TASTE, quiet: false, debug: false, exclude: [] });
  return lintResults
    .parse(linter.lintFiles([path], false))
    .flatMap(({ messages }) => messages.map(({ rule, line, message }) => `${line}: ${message} (${rule})`));
}

const service = z.looseObject({
  image: z.string().optional(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  volumes: z.array(z.string()).default([]),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()).optional(), disable: z.boolean().optional() }).optional(),
  stop_grace_period: z.string().optional(),
  init: z.boolean().optional(),
});
const compose = z
  .looseObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.unknown()) })
  .parse(parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true }));

function serviceNamed(name: string): z.infer<typeof service> {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

describe('docker-compose.yml', () => {
  test("agrees with Compose's own schema, and a linter finds nothing", () => {
    expect(lint(COMPOSE_FILE)).toEqual([]);
  });

  test('names exact versions of images, and one version for all of the Temporal server', () => {
    const images = Object.values(compose.services).flatMap(({ image }) => image ?? []);
    for (const image of images) expect(image).toMatch(/:\d+\.\d+(\.\d+)?$/);
    const server = images.filter((image) => /temporalio\/(server|admin-tools):/.test(image));
    expect(new Set(server.map((image) => image.split(':')[1])).size).toBe(1);
    expect(server.length).toBeGreaterThanOrEqual(2);
  });

  test('starts each service after what it needs is not only started but ready', () => {
    const needs = (name: string): Record<string, string> =>
      Object.fromEntries(Object.entries(serviceNamed(name).depends_on).map(([of, { condition }]) => [of, condition]));
    expect(needs('temporal-schema')).toEqual({ postgres: 'service_healthy' });
    expect(needs('temporal')).toEqual({ 'temporal-schema': 'service_completed_successfully' });
    expect(needs('temporal-namespace')).toEqual({ temporal: 'service_healthy' });
    expect(needs('migrate')).toEqual({ postgres: 'service_healthy' });
    expect(needs('worker')).toEqual({
      migrate: 'service_completed_successfully',
      'temporal-namespace': 'service_completed_successfully',
    });
    for (const [name, { depends_on: needed }] of Object.entries(compose.services)) {
      for (const [other, { condition }] of Object.entries(needed)) {
        const waited = serviceNamed(other);
        // The worker and the migration take the image's own check.
        if (condition === 'service_healthy') expect(waited.healthcheck?.test, `${name} on ${other}`).toBeDefined();
        else expect(waited, `${other} ends`).toMatchObject({ restart: 'on-failure' });
      }
    }
  });

  test('gives the Temporal server what its image lacks', () => {
    const { environment, volumes, healthcheck } = serviceNamed('temporal');
    // The server's default is Cassandra.
    expect(environment['DB']).toBe('postgres12_pgx');
    expect(environment['NUM_HISTORY_SHARDS']).toBeDefined();
    // Without a file of dynamic configuration the server ends at once, and the image has none.
    const path = String(environment['DYNAMIC_CONFIG_FILE_PATH']);
    expect(volumes).toContain(`./deploy/temporal-dynamic-config.yaml:${path}:ro`);
    expect(Object.keys(parse(read('deploy/temporal-dynamic-config.yaml')))).not.toHaveLength(0);
    // The image has no Temporal CLI to ask.
    expect(healthcheck?.test?.join(' ')).toBe('CMD nc -z localhost 7233');
  });

  test('mounts only files that are there, and keeps all data in named volumes', () => {
    const mounts = Object.values(compose.services).flatMap(({ volumes }) => volumes);
    for (const mount of mounts) {
      const source = mount.split(':')[0] ?? '';
      if (source.startsWith('./')) expect(read(source).length).toBeGreaterThan(0);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
    // Images of Postgres 18 and later: a mount of …/data itself would not hold the data.
    expect(serviceNamed('postgres').volumes).toEqual(['postgres-data:/var/lib/postgresql']);
  });

  test('gives every use of the database one password and one user', () => {
    const { POSTGRES_USER: user, POSTGRES_PASSWORD: password } = serviceNamed('postgres').environment;
    expect(serviceNamed('temporal').environment).toMatchObject({ POSTGRES_USER: user, POSTGRES_PWD: password });
    expect(serviceNamed('temporal-schema').environment).toEqual({ POSTGRES_USER: user, POSTGRES_PASSWORD: password });
    const url = `postgres://${user}:${password}@postgres:5432/holdfast`;
    expect(serviceNamed('migrate').environment['DATABASE_URL']).toBe(url);
    expect(serviceNamed('worker').environment['DATABASE_URL']).toBe(`${url}?options=-c%20role%3Dholdfast_app`);
  });

  test('lets a worker finish its running calls before it is killed', () => {
    const grace = Number(/^(\d+)s$/.exec(serviceNamed('worker').stop_grace_period ?? '')?.[1]) * 1_000;
    expect(grace).toBeGreaterThan(DEFAULT_SHUTDOWN_GRACE_MILLISECONDS + 8_000);
  });

  test("collects what an agent's commands leave behind: Node as process 1 would not", () => {
    expect(serviceNamed('worker').init).toBe(true);
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');
  const image = dockerfile.slice(dockerfile.lastIndexOf('FROM '));

  test('brings every file that the packed program needs', () => {
    const { files } = z.object({ files: z.array(z.string()) }).parse(JSON.parse(read('package.json')));
    const needed = files.filter((file) => file !== 'CHANGELOG.md');
    for (const file of ['package.json', 'node_modules', ...needed]) {
      expect(image).toContain(`COPY --from=build /app/${file} ./${file}\n`);
    }
    expect(read('.dockerignore').split('\n')).toEqual(expect.not.arrayContaining(['scripts', 'src', 'migrations']));
  });

  test('asks the worker whether it is alive, and starts no program for it but a shell', async () => {
    const check = /^HEALTHCHECK .*? CMD (.*)$/m.exec(image)?.[1] ?? '';
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const port = await serveHealth(0, { checkReady: () => Promise.reject(new Error('not asked')), ended });
    const isHealthy = async (): Promise<boolean> => {
      const environment = { PATH: process.env['PATH'] ?? '', HOLDFAST_HEALTH_PORT: String(port) };
      const [code] = await once(spawn('/bin/sh', ['-c', check], { env: environment }), 'exit');
      return code === 0;
    };
    expect(await isHealthy()).toBe(true);
    end();
    await expect.poll(isHealthy, { timeout: 60_000 }).toBe(false);
    expect(check).not.toContain('node');
  });
});
