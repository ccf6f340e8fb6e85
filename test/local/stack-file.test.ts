import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readLoginSecret } from '../../src/local/login-secret.ts';
import { readStack, resolveConnections, stateDirectory, writeStack } from '../../src/local/stack-file.ts';
import { StackRecord } from '../../src/local/stack-record.ts';
import type { Stack } from '../../src/local/stack-file.ts';
import { temporaryDirectory } from '../support/servers.ts';

let directory: string;
let stack: Stack;
beforeEach(async () => {
  directory = await temporaryDirectory('stack-file');
  const dataDirectory = join(directory, 'postgres');
  await mkdir(dataDirectory);
  await writeFile(join(dataDirectory, 'holdfast-password'), 'pa55\n');
  stack = {
    version: 1,
    postgres: { port: 7432, database: 'holdfast', dataDirectory },
    temporal: { address: '127.0.0.1:7233', namespace: 'default', uiUrl: 'http://127.0.0.1:8233' },
    simulator: { url: 'http://127.0.0.1:8787' },
    server: null,
    processes: { postgres: { processId: 12, start: '345' } },
  };
});
afterEach(async () => rm(directory, { recursive: true, force: true }));

describe('the stack file', () => {
  test('is written again after a write that failed', async () => {
    const state = join(directory, '.holdfast');
    const record = new StackRecord(state, stack);
    await expect(record.update({ simulator: null })).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(state);
    await record.update({ temporal: null });
    expect(readStack(state)).toEqual({ ...stack, simulator: null, temporal: null, processes: {} });
  });

  test.each(['', '{', '[]', '{"version":2}', '{"version":1,"postgres":{"port":"x"}}'])(
    'refuses %j with what to do',
    async (text) => {
      await writeFile(join(directory, 'stack.json'), text);
      expect(() => readStack(directory)).toThrow(expect.objectContaining({ code: 'stack_file_invalid' }));
      expect(() => readStack(directory)).toThrow('Delete it');
    },
  );

  test('is found from a folder below, as git finds its own', async () => {
    const state = join(directory, '.holdfast');
    await mkdir(join(directory, 'a', 'b'), { recursive: true });
    await mkdir(state);
    await writeStack(state, stack);
    expect(stateDirectory({}, join(directory, 'a', 'b'))).toBe(state);
    expect(stateDirectory({ HOLDFAST_DIRECTORY: '/elsewhere' }, directory)).toBe('/elsewhere');
  });
});

describe('the connections of a command', () => {
  test('come from the stack, with the password that only its data folder holds', () => {
    expect(resolveConnections({}, stack)).toEqual({
      temporalAddress: '127.0.0.1:7233',
      temporalNamespace: 'default',
      databaseUrl: 'postgresql://holdfast:pa55@127.0.0.1:7432/holdfast?options=-c%20role%3Dholdfast_app',
      databaseListenUrl: null,
      simulatorUrl: 'http://127.0.0.1:8787',
    });
    expect(JSON.stringify(stack)).not.toContain('pa55');
  });

  test('each variable of the environment wins', () => {
    const environment = {
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'production',
      DATABASE_URL: 'postgresql://elsewhere/db',
      DATABASE_LISTEN_URL: 'postgresql://direct/db',
      HOLDFAST_SIMULATOR_URL: 'http://simulator.example',
    };
    const expected = {
      temporalAddress: 'temporal.example:7233',
      temporalNamespace: 'production',
      databaseUrl: 'postgresql://elsewhere/db',
      databaseListenUrl: 'postgresql://direct/db',
      simulatorUrl: 'http://simulator.example',
    };
    expect(resolveConnections(environment, stack)).toEqual(expected);
    expect(resolveConnections(environment, null)).toEqual(expected);
  });

  test('an empty variable counts as not set', () => {
    expect(resolveConnections({ TEMPORAL_ADDRESS: '', DATABASE_URL: '' }, stack).temporalAddress).toBe(
      '127.0.0.1:7233',
    );
  });

  test('without a stack or a variable the message names both ways out', () => {
    expect(() => resolveConnections({}, null)).toThrow(
      /No Temporal server is known.*npx holdfast dev.*TEMPORAL_ADDRESS/,
    );
    expect(() => resolveConnections({ TEMPORAL_ADDRESS: 'x:1' }, null)).toThrow(/No database is known.*DATABASE_URL/);
  });
});

test("the secret of the pages' login outlives the server, is the user's alone, and is made anew when it is cut off", async () => {
  const secret = await readLoginSecret(directory);
  const path = join(directory, 'pages-login');
  expect([secret?.length, (await stat(path)).mode & 0o777]).toEqual([32, 0o600]);
  expect(await readLoginSecret(directory)).toEqual(secret);
  await writeFile(path, '');
  const other = await readLoginSecret(directory);
  expect([other?.length, other?.equals(secret ?? Buffer.of())]).toEqual([32, false]);
  expect(await readLoginSecret(join(directory, 'none'))).toBeNull();
});
