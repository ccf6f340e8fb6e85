#!/usr/bin/env node
// In a clone this runs src through tsx; in an installed package the compiled dist.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = new URL('../src/main.ts', import.meta.url);

async function loadMain() {
  if (!existsSync(source)) return import('../dist/main.js');
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: fileURLToPath(new URL('../../../tsconfig.json', import.meta.url)) });
  return import(source.href);
}

const { main } = await loadMain();
await main(process.argv);
