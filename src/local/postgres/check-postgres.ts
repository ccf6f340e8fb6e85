// For set-up: starts the embedded Postgres once, in a folder that is removed again, and asks it something.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPostgresStarts } from './postgres-check.ts';

const directory = await mkdtemp(join(tmpdir(), 'holdfast-check-'));
try {
  // Root's Postgres runs as another user.
  await chmod(directory, 0o755);
  await checkPostgresStarts(directory);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}
