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

/** A database for all replays of a test file, which calls this once. */
export function useLab() {
  let opened: { readonly database: Database; readonly drop: () => Promise<void> } | null = null;
  const openDatabase = async (): Promise<Database> => {
    if (opened === null) {
      const created = await createTestDatabase();
      opened = { database: connectDatabase({ url: created.url }), drop: () => created.drop() };
    }
    return opened.database;
  };
  afterAll(async () => {
    await opened?.database.end();
    await opened?.drop();
  });
  const replay = async (file: string, options: Partial<LabOptions> = {}): Promise<LabResult> =>
    runLab({
      files: [file],
      windows: [32_000],
      policies: [preset('default')],
      model: null,
      prices: null,
      seed: 1,
      facts: 100,
      configuration: loadConfiguration({ directory: '/', environment: {} }),
      openDatabase,
      ...options,
    });
  return { openDatabase, replay };
}
