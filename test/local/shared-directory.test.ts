import { chmod, chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sharedDirectory } from '../../src/local/shared-directory.ts';
import { temporaryDirectory } from '../tools/support/tool-context.ts';

describe('the folder of root that every user can pass through', () => {
  test('is made where it can be, and shows others nothing of what is in it', async () => {
    const base = await temporaryDirectory();
    await writeFile(join(base, 'file'), '');
    const directory = join(base, 'holdfast');
    expect(await sharedDirectory([join(base, 'file', 'below'), directory])).toBe(directory);
    expect((await stat(directory)).mode & 0o777).toBe(0o711);
    expect(await sharedDirectory([directory])).toBe(directory);
  });

  const TAKEN: readonly (readonly [string, (path: string) => Promise<void>, boolean])[] = [
    [
      'writable by others',
      async (path) => {
        await mkdir(path);
        await chmod(path, 0o777);
      },
      true,
    ],
    ['a link', (path) => symlink('/tmp', path), true],
    [
      "another user's",
      async (path) => {
        await mkdir(path);
        await chown(path, 1, 1);
      },
      process.getuid?.() === 0,
    ],
  ];
  test.each(TAKEN.filter(([, , possible]) => possible))('is refused when it is %s', async (_, take) => {
    const directory = join(await temporaryDirectory(), 'holdfast');
    await take(directory);
    await expect(sharedDirectory([directory])).rejects.toMatchObject({ code: 'directory_untrusted' });
  });
});
