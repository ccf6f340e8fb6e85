#!/usr/bin/env node
// In a clone this runs src through tsx; in an installed package, where there is no src, the compiled dist.
// HOLDFAST_RUN=dist runs the compiled one in a clone too (`npm run build`): it starts in half the time.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// From Node 22 on: compiling takes a third of a short command.
module.enableCompileCache?.();

const root = new URL('../', import.meta.url);
const source = new URL('src/', root);
const isCompiled = process.env.HOLDFAST_RUN === 'dist' || !existsSync(source);

const { refuseOldNode } = await import(
  new URL('local/setup/check-node.mjs', existsSync(source) ? source : new URL('dist/', root)).href
);
refuseOldNode();

async function loadMain() {
  if (isCompiled) return import('../dist/program/main.js');
  if (!existsSync(new URL('node_modules/.package-lock.json', root))) {
    process.stderr.write('holdfast: this clone is not set up: its npm packages are missing.\nNext: npm run setup\n');
    process.exit(1);
  }
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: fileURLToPath(new URL('tsconfig.json', root)) });
  return import(new URL('cli/main.ts', source).href);
}

const { main } = await loadMain();
await main(process.argv);
