import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const BYTES = 32;

/**
 * What a browser that is logged in to the server of a local stack holds: kept in the state folder, so that pages stay logged in when the
 * server starts again.
 * @returns `null` where there is no state folder
 */
export async function readLoginSecret(directory: string): Promise<Buffer | null> {
  if (!existsSync(directory)) return null;
  const path = join(directory, 'pages-login');
  const known = await readFile(path).catch(() => null);
  // A server that was killed as it wrote left less.
  if (known?.length === BYTES) return known;
  const secret = randomBytes(BYTES);
  await writeFile(path, secret, { mode: 0o600 });
  return secret;
}
