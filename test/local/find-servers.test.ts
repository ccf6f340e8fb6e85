import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findServers } from '../../src/local/find-servers.ts';
import { writeStack } from '../../src/local/stack-file.ts';
import { temporaryDirectory } from '../support/servers.ts';

const ENVIRONMENT = { DATABASE_URL: 'postgres://environment/db', TEMPORAL_ADDRESS: 'environment:7233' };
const WRITTEN = 'database: { url: "postgres://file/db" }\ntemporal: { address: "file:7233", namespace: own }\n';

let project: string;
let below: string;
const made: string[] = [];

/** A project with the state of a local stack, and a folder below it. */
beforeEach(async () => {
  project = await temporaryDirectory('servers');
  made.push(project);
  below = join(project, 'below');
  const state = join(project, '.holdfast');
  const dataDirectory = join(state, 'postgres');
  await mkdir(dataDirectory, { recursive: true });
  await mkdir(below);
  await writeFile(join(dataDirectory, 'holdfast-password'), 'secret\n');
  await writeStack(state, {
    version: 1,
    postgres: { port: 7432, database: 'holdfast', dataDirectory },
    temporal: { address: '127.0.0.1:7233', namespace: 'default', uiUrl: null },
    simulator: { url: 'http://127.0.0.1:8787' },
    server: null,
    processes: {},
  });
});
afterAll(async () => Promise.all(made.map(async (folder) => rm(folder, { recursive: true, force: true }))));

const LOCAL = {
  databaseUrl: 'postgresql://holdfast:secret@127.0.0.1:7432/holdfast?options=-c%20role%3Dholdfast_app',
  databaseListenUrl: null,
  temporalAddress: '127.0.0.1:7233',
  temporalNamespace: 'default',
  simulatorUrl: 'http://127.0.0.1:8787',
  problem: null,
};

const dataDirectory = (): string => join(project, '.holdfast', 'postgres');

test('the environment wins over holdfast.yaml, and that over the local stack; both are found upwards', async () => {
  expect(findServers({ environment: {}, directory: below })).toEqual({ ...LOCAL, dataDirectory: dataDirectory() });
  await writeFile(join(project, 'holdfast.yaml'), WRITTEN);
  expect(findServers({ environment: {}, directory: below })).toEqual({
    ...LOCAL,
    dataDirectory: dataDirectory(),
    databaseUrl: 'postgres://file/db',
    temporalAddress: 'file:7233',
    temporalNamespace: 'own',
  });
  expect(findServers({ environment: ENVIRONMENT, directory: below })).toMatchObject({
    databaseUrl: 'postgres://environment/db',
    temporalAddress: 'environment:7233',
  });
});

test('a direct connection belongs to the database that is named beside it', async () => {
  await writeFile(
    join(project, 'holdfast.yaml'),
    'database: { url: "postgres://file/db", listenUrl: "postgres://direct/db" }\n',
  );
  const find = (environment: Record<string, string>) =>
    findServers({ environment, directory: below }).databaseListenUrl;
  expect(find({})).toBe('postgres://direct/db');
  expect(find({ DATABASE_LISTEN_URL: 'postgres://other/db' })).toBe('postgres://other/db');
  expect(find(ENVIRONMENT)).toBe(null);
  await rm(join(project, 'holdfast.yaml'));
  expect(find({ DATABASE_LISTEN_URL: 'postgres://other/db' })).toBe(null);
});

test('what is wrong in holdfast.yaml beside its servers does not matter', async () => {
  await writeFile(join(project, 'holdfast.yaml'), `${WRITTEN}agents: { default: { modle: x } }\nunknown: 1\n`);
  expect(findServers({ environment: {}, directory: below })).toMatchObject({
    databaseUrl: 'postgres://file/db',
    problem: null,
  });
});

test('a server that is written wrongly is refused: no other one may be used in its place', async () => {
  await writeFile(join(project, 'holdfast.yaml'), 'temporal: { address: nowhere }\n');
  expect(() => findServers({ environment: {}, directory: below })).toThrow(/holdfast\.yaml:1:13: temporal\.address/u);
  expect(() => findServers({ environment: { DATABASE_URL: 'http://x' }, directory: below })).toThrow(/DATABASE_URL/u);
});

test('a file that cannot be read is told beside the servers that are known, unless the environment names all', async () => {
  await writeFile(join(project, 'holdfast.yaml'), 'agents: [\n');
  const { problem, ...found } = findServers({ environment: {}, directory: below });
  expect({ ...found, problem: null }).toMatchObject(LOCAL);
  expect(problem?.message).toContain('is not valid YAML');
  expect(findServers({ environment: ENVIRONMENT, directory: below }).problem).toBe(null);
});

test('without any server says how to get one; Temporal may be missing where nobody connects to it', async () => {
  const bare = await temporaryDirectory('bare');
  made.push(bare);
  expect(() => findServers({ environment: {}, directory: bare })).toThrow(
    expect.objectContaining({ code: 'stack_not_started', fix: expect.stringContaining('npx holdfast dev') }),
  );
  const { DATABASE_URL } = ENVIRONMENT;
  const found = findServers({ environment: { DATABASE_URL }, directory: bare, needsTemporal: false });
  expect(found.databaseUrl).toBe(DATABASE_URL);
});

test('a stack whose password cannot be read is told, and not an internal error', async () => {
  await rm(join(project, '.holdfast', 'postgres'), { recursive: true });
  expect(() => findServers({ environment: {}, directory: below })).toThrow(
    expect.objectContaining({ code: 'stack_not_started', message: expect.stringContaining('ENOENT') }),
  );
});
