import { readFileSync } from 'node:fs';

/** The version in package.json, which stands beside `src` and `dist` alike. */
export function readVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  if (typeof parsed === 'object' && parsed !== null && 'version' in parsed && typeof parsed.version === 'string') {
    return parsed.version;
  }
  throw new Error('package.json has no version');
}
