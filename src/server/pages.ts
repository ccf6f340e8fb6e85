import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Hono } from 'hono';
import { RequestError } from './problem.ts';

/** `npm run build` puts them there, from packages/console. */
const FOLDER = fileURLToPath(new URL('../../dist/console', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** The web pages: a few files, read once, so that no path of a request reaches the file system. */
export function addPages(app: Hono): void {
  const names = existsSync(FOLDER) ? readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }) : [];
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const bytes = new Uint8Array(readFileSync(join(FOLDER, name)));
    const isPage = name === 'index.html';
    // The names of all others change with what is in them.
    const caching = isPage ? 'no-cache' : 'public, max-age=31536000, immutable';
    const headers = { 'content-type': type, 'cache-control': caching };
    app.get(isPage ? '/' : `/${name.split(sep).join('/')}`, (context) => context.body(bytes, 200, headers));
  }
  if (names.length === 0) {
    app.get('/', () => {
      throw new RequestError('route_not_found', 'The pages are not built: `npm run build` builds them.');
    });
  }
}
