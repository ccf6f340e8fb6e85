import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { PRESETS } from '../../../src/config/presets.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { runLab } from '../../../packages/lab/src/run-lab.ts';
import { connectDatabase } from '../../../src/store/database/database.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { createTestDatabase } from '../../support/database.ts';
import type { LabOptions, LabResult } from '../../../packages/lab/src/run-lab.ts';

export async function writeSession(directory: string, name: string, messages: readonly unknown[]): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, messages.map((message) => JSON.stringify(message)).join('\n'));
  return file;
}

export function preset(name: string): CompactionPolicy {
  const policy = PRESETS[name];
  if (policy === undefined) throw new RangeError(`no preset ${name}`);
  return policy;
}

let opened: Promise<{ readonly database: Database; readonly drop: () => Promise<void> }> | null = null;

/** One for all replays of a test file. */
export async function openTestDatabase(): Promise<Database> {
  opened ??= createTestDatabase().then(({ url, drop }) => ({ database: connectDatabase({ url }), drop }));
  return (await opened).database;
}

afterAll(async () => {
  if (opened === null) return;
  const { database, drop } = await opened;
  await database.end();
  await drop();
});

export async function replay(file: string, options: Partial<LabOptions> = {}): Promise<LabResult> {
  const configuration = loadConfiguration({ directory: '/', environment: {} });
  return runLab({
    files: [file],
    windows: [32_000],
    policies: [preset('default')],
    model: null,
    prices: null,
    seed: 1,
    facts: 100,
    configuration,
    openDatabase: openTestDatabase,
    ...options,
  });
}
