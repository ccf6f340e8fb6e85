import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Histories of every released workflow version, one folder each; they are added, never changed. */
export const HISTORIES = fileURLToPath(new URL('./kept', import.meta.url));

/** SHA-256 of every kept history by its path. */
export const MANIFEST = fileURLToPath(new URL('./manifest.json', import.meta.url));

export interface KeptHistory {
  /** `<version>/<name>.json` */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

export function keptHistories(): KeptHistory[] {
  if (!existsSync(HISTORIES)) return [];
  return readdirSync(HISTORIES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .sort()
    .map((path) => {
      const text = readFileSync(join(HISTORIES, path), 'utf8');
      return { path, text, sha256: createHash('sha256').update(text).digest('hex') };
    });
}

export function manifest(): Record<string, string> {
  return existsSync(MANIFEST) ? (JSON.parse(readFileSync(MANIFEST, 'utf8')) as Record<string, string>) : {};
}
