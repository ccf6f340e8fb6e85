#!/usr/bin/env node
// In a clone this runs src through tsx; in an installed package, where there is no src, the compiled dist.
// HOLDFAST_RUN=dist runs the compiled one in a clone too (`npm run build`): it starts in half the time.
import { existsSync } from 'node:fs';
import { refuseOldNode } from '../scripts/setup/check-node.mjs';

refuseOldNode();

const source = new URL('../src/cli/main.ts', import.meta.url);

async function loadMain() {
  if (process.env.HOLDFAST_RUN === 'dist' || !existsSync(source)) return import('../dist/cli/main.js');
  if (!existsSync(new URL('../node_modules/.package-lock.json', import.meta.url))) {
    process.stderr.write('holdfast: this clone is not set up: its npm packages are missing.\nNext: npm run setup\n');
    process.exit(1);
  }
  const { register } = await import('tsx/esm/api');
  register();
  return import(source.href);
}

const { main } = await loadMain();
await main(process.argv);
