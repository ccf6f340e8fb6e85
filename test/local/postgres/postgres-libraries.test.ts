import { lstat, mkdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linkLibraries } from '../../../src/local/postgres/postgres-libraries.ts';
import { temporaryDirectory } from '../../support/servers.ts';

test('the links between libraries are made where install scripts did not run, and left alone where they did', async () => {
  const directory = await temporaryDirectory('libraries');
  const library = join(directory, 'native', 'lib');
  await mkdir(library, { recursive: true });
  await writeFile(join(library, 'libicu.so.60.2'), 'library');
  const links = [
    { source: 'native/lib/libicu.so.60.2', target: 'native/lib/libicu.so.60' },
    { source: 'native/lib/libicu.so.60.2', target: 'native/lib/libicu.so' },
  ];
  await writeFile(join(directory, 'native', 'pg-symlinks.json'), JSON.stringify(links));
  await Promise.all([linkLibraries(directory), linkLibraries(directory)]);
  expect(await readlink(join(library, 'libicu.so'))).toBe('libicu.so.60.2');
  expect(await readFile(join(library, 'libicu.so.60'), 'utf8')).toBe('library');
  const before = await lstat(join(library, 'libicu.so'));
  await linkLibraries(directory);
  expect((await lstat(join(library, 'libicu.so'))).ino).toBe(before.ino);
  await rm(directory, { recursive: true });
});

test('a package without such links needs none', async () => {
  const directory = await temporaryDirectory('libraries');
  await linkLibraries(directory);
  await rm(directory, { recursive: true });
});
