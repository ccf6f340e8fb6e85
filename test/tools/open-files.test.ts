import { readdir, readlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { editFile } from '../../src/tools/builtin/edit-file.ts';
import { listFiles } from '../../src/tools/builtin/list-files.ts';
import { readFile } from '../../src/tools/builtin/read-file.ts';
import { searchFiles } from '../../src/tools/builtin/search-files.ts';
import { writeFile } from '../../src/tools/builtin/write-file.ts';
import { call, temporaryDirectory } from './support/tool-context.ts';

/** Descriptors of this process that lead into a folder. */
async function openBelow(folder: string): Promise<string[]> {
  const names = await readdir('/proc/self/fd');
  const paths = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(folder));
}

test.runIf(process.platform === 'linux')(
  'file tools leave no file and no folder open, also when they fail',
  async () => {
    const workspace = await temporaryDirectory();
    const context = { workspace };
    const path = 'a/b/c.txt';
    const calls = [
      () => call(writeFile, { input: { path, content: 'one\n' }, context }),
      () => call(writeFile, { input: { path, content: 'two\n', append: true }, context }),
      () => call(writeFile, { input: { path, content: 'two\n', append: true }, context: { ...context, attempt: 2 } }),
      () => call(writeFile, { input: { path: 'a', content: '' }, context }),
      () => call(editFile, { input: { path, old_text: 'one', new_text: 'three' }, context }),
      () => call(editFile, { input: { path, old_text: 'none', new_text: 'three' }, context }),
      () => call(readFile, { input: { path }, context }),
      () => call(readFile, { input: { path: 'a' }, context }),
      () => call(listFiles, { input: { path: '.' }, context }),
      () => call(searchFiles, { input: { pattern: 'three' }, context }),
      () => call(searchFiles, { input: { pattern: 'three', path }, context }),
    ];
    const failed: boolean[] = [];
    for (const each of calls) failed.push((await each()).isError);
    expect(failed).toEqual([false, false, false, true, false, true, false, true, false, false, false]);
    expect(await openBelow(workspace)).toEqual([]);
  },
);
