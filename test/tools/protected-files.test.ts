import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { editFile } from '../../src/tools/builtin/edit-file.ts';
import { listFiles } from '../../src/tools/builtin/list-files.ts';
import { readFile as readFileTool } from '../../src/tools/builtin/read-file.ts';
import { searchFiles } from '../../src/tools/builtin/search-files.ts';
import { writeFile as writeFileTool } from '../../src/tools/builtin/write-file.ts';
import { call, temporaryDirectory } from './support/tool-context.ts';

const SECRET = 'planted-secret';

/** A workspace with such files, each of which holds the secret. */
async function workspaceWith(...paths: readonly string[]): Promise<string> {
  const workspace = await temporaryDirectory();
  for (const path of ['src/ordinary.txt', ...paths]) {
    await mkdir(join(workspace, dirname(path)), { recursive: true });
    await writeFile(join(workspace, path), `${SECRET}\n`);
  }
  return workspace;
}

/** The outcomes of all ways to get at a file by its path. */
async function attempts(workspace: string, path: string, protectedPaths: readonly string[] = []) {
  const context = { workspace, protectedPaths };
  return [
    await call(readFileTool, { input: { path }, context }),
    await call(searchFiles, { input: { path, pattern: '.' }, context }),
    await call(editFile, { input: { path, old_text: SECRET, new_text: 'changed' }, context }),
    await call(writeFileTool, { input: { path, content: 'changed' }, context }),
    await call(writeFileTool, { input: { path, content: 'changed', append: true }, context }),
  ];
}

async function expectProtected(workspace: string, path: string, protectedPaths: readonly string[] = []): Promise<void> {
  for (const { isError, text } of await attempts(workspace, path, protectedPaths)) {
    const reason = expect.stringMatching(/ is protected: .* the files that `modules` names there/u);
    expect({ path, isError, text }).toEqual({ path, isError: true, text: reason });
  }
}

/** What listing and searching the whole workspace show. */
async function shown(workspace: string, protectedPaths: readonly string[] = []): Promise<string> {
  const context = { workspace, protectedPaths };
  const list = await call(listFiles, { input: { recursive: true }, context });
  const found = await call(searchFiles, { input: { pattern: SECRET }, context });
  return `${list.text}\n${found.text}`;
}

const NAMED = [
  '.holdfast/postgres/holdfast-password',
  '.holdfast/postgres/postgresql.auto.conf',
  '.holdfast/stack.json',
  'below/.holdfast/logs/worker.log',
  'holdfast.yaml',
  'holdfast.json',
  'below/holdfast.yaml',
  '.git/hooks/pre-commit',
  '.git/config',
  '.git/config.worktree',
  '.git/modules/library/hooks/post-checkout',
  '.git/modules/library/config',
  '.git/worktrees/other/config.worktree',
  'below/.git/hooks/pre-push',
];

describe('protected files', () => {
  test.each(NAMED)('%s is neither read, searched nor changed', async (path) => {
    const workspace = await workspaceWith(path);
    await expectProtected(workspace, path);
    expect(await readFile(join(workspace, path), 'utf8')).toBe(`${SECRET}\n`);
    const everything = await shown(workspace);
    expect(everything).toContain('src/ordinary.txt:1: ');
    expect(everything).not.toContain(path);
    expect(everything).toContain('1 file searched');
  });

  test.each(NAMED)('%s is not made where it is missing', async (path) => {
    const workspace = await workspaceWith();
    const { isError, text } = await call(writeFileTool, { input: { path, content: 'x' }, context: { workspace } });
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining('is protected') });
    await expect(readFile(join(workspace, path))).rejects.toThrow('ENOENT');
    expect(await shown(workspace)).toContain('[entries 1–2 of 2; end of list]');
  });

  // As file systems read them that do not tell letter case, composed letters or invisible characters apart.
  test.each([
    '.HoldFast/x',
    'HOLDFAST.YAML',
    '.Git/HOOKS/x',
    '.git/Config',
    '.hold\u200cfast/x',
    'holdfast.yaml.',
    '.git./hooks/x',
  ])('the spelling %j makes no difference', async (path) => {
    await expectProtected(await workspaceWith(path), path);
  });

  test.each(['./.holdfast//stack.json', './holdfast.yaml', '.git/./hooks/pre-commit'])(
    'nor do the dots and slashes of %s',
    async (path) => {
      await expectProtected(await workspaceWith(path), path);
    },
  );

  test.each([
    ['a link to the file', 'holdfast.yaml', 'holdfast.yaml', 'link'],
    ['a link to its folder', '.holdfast/postgres/holdfast-password', '.holdfast', 'link/postgres/holdfast-password'],
    ['a link in a folder', '.git/hooks/pre-commit', '../.git/hooks', 'src/link/pre-commit'],
  ])('%s leads to an error', async (_, path, target, way) => {
    const workspace = await workspaceWith(path);
    await symlink(target, join(workspace, way.split('/link')[0] === 'src' ? 'src/link' : 'link'));
    await expectProtected(workspace, way);
    expect((await shown(workspace)).match(/planted-secret/g)).toHaveLength(1);
  });

  test('files and folders that are named count wherever they lie, also by way of a link and before they are there', async () => {
    const workspace = await workspaceWith('state/postgres/holdfast-password', 'keys/model.key', 'real/configuration');
    await symlink('real', join(workspace, 'linked'));
    const paths = ['state', 'keys/model.key', 'linked/configuration', 'keys/later.key'].map((path) =>
      join(workspace, path),
    );
    for (const path of ['state/postgres/holdfast-password', 'STATE/new', 'keys/model.key', 'real/configuration']) {
      await expectProtected(workspace, path, paths);
    }
    await expectProtected(workspace, 'keys/later.key', paths);
    const everything = await shown(workspace, paths);
    expect(everything).not.toMatch(/state|model|configuration/);
    expect(everything).toContain('keys/');
  });

  test('a folder of a repository is known by what is in it, whatever it is called', async () => {
    const folders = ['store.git', 'below/separate'];
    const inside = ['HEAD', 'objects/x', 'refs/x', 'hooks/pre-commit', 'config'];
    const workspace = await workspaceWith(...folders.flatMap((folder) => inside.map((path) => `${folder}/${path}`)));
    for (const folder of folders) {
      await expectProtected(workspace, `${folder}/hooks/pre-commit`);
      await expectProtected(workspace, `${folder}/config`);
    }
    expect(await shown(workspace)).not.toMatch(/hooks|config/);
  });

  test('no file is written that would make a folder a repository’s own, whatever was written there before', async () => {
    const workspace = await temporaryDirectory();
    for (const path of ['sub/config', 'sub/hooks/pre-commit', 'sub/objects/x', 'sub/refs/x'])
      expect(await call(writeFileTool, { input: { path, content: 'x' }, context: { workspace } })).toMatchObject({
        isError: false,
      });
    for (const path of ['sub/HEAD', 'sub/head', 'sub/commondir'])
      expect(await call(writeFileTool, { input: { path, content: 'x' }, context: { workspace } })).toMatchObject({
        isError: true,
        text: expect.stringContaining('is protected') as string,
      });
  });

  test('what a protected name links to is protected by both names', async () => {
    const workspace = await workspaceWith('state/stack.json', 'other.yaml');
    await symlink('state', join(workspace, '.holdfast'));
    await symlink('other.yaml', join(workspace, 'holdfast.yaml'));
    for (const path of ['.holdfast/stack.json', 'state/stack.json', 'holdfast.yaml', 'other.yaml'])
      await expectProtected(workspace, path);
  });

  test('git’s other files are shown and never changed, nor is a .git file that names the folder of a work tree', async () => {
    const workspace = await workspaceWith('.git/HEAD', 'tree/.git');
    for (const path of ['.git/HEAD', 'tree/.git']) {
      const [read, search, ...changes] = await attempts(workspace, path);
      expect([read?.isError, search?.isError]).toEqual([false, false]);
      for (const { isError, text } of changes)
        expect([isError, text]).toEqual([true, expect.stringContaining('is protected')]);
    }
    const made = await call(writeFileTool, {
      input: { path: '.git/rebase-merge/git-rebase-todo', content: 'exec x' },
      context: { workspace },
    });
    expect(made.isError).toBe(true);
    const list = await call(listFiles, { input: { path: '.git' }, context: { workspace } });
    expect(list.text).toBe('.git/HEAD · 15 bytes\n[entries 1–1 of 1; end of list]');
  });

  test.each(['.husky', './.husky/', '"linked"'])(
    'hooks in a folder that git’s configuration names (hooksPath = %s) are shown and never changed',
    async (named) => {
      const workspace = await workspaceWith('.husky/pre-commit', '.git/HEAD');
      await symlink('.husky', join(workspace, 'linked'));
      await writeFile(join(workspace, '.git/config'), `[core]\n\tbare = false\n\thookspath = ${named}\n`);
      const [read, search, ...changes] = await attempts(workspace, '.husky/pre-commit');
      expect([read?.isError, search?.isError]).toEqual([false, false]);
      for (const { isError, text } of changes)
        expect([isError, text]).toEqual([true, expect.stringContaining('is protected')]);
    },
  );

  test('names that only begin or end like protected ones are ordinary', async () => {
    const paths = [
      '.gitignore',
      '.github/hooks/x',
      '.holdfast-notes/x',
      'my-holdfast.yaml',
      'holdfast.yaml.md',
      'hooks/config',
      'x.git',
    ];
    const workspace = await workspaceWith(...paths);
    for (const path of paths) {
      for (const { isError, text } of (await attempts(workspace, path)).slice(0, 3))
        expect([path, isError, text]).toEqual([path, false, text]);
    }
  });

  test('a workspace inside of the state folder is open, one that is the state folder is not', async () => {
    const state = await workspaceWith('agent/file.txt', 'stack.json');
    const [read] = await attempts(join(state, 'agent'), 'file.txt', [state]);
    expect(read?.isError).toBe(false);
    await expectProtected(state, 'stack.json', [state]);
  });
});
