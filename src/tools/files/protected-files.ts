/**
 * What file tools keep away from, although it lies in the workspace: Holdfast's state and configuration, files with keys, and what
 * git runs by itself. Otherwise an agent without commands could read passwords, or have a command run by the next start of a worker
 * or by the next person who uses git.
 *
 * Names are compared as the most lenient file system does (letter case, composed letters, invisible characters). A path is judged
 * after links were resolved. A hard link is a file of its own: no file tool makes one.
 */
import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Anywhere in a workspace: some command of Holdfast may be run in any folder. */
const NAMES: ReadonlySet<string> = new Set(['.holdfast', 'holdfast.yaml', 'holdfast.yml', 'holdfast.json']);

/** Makes a folder a repository's own, together with what an agent may have written there before. */
const MAKES_REPOSITORY: ReadonlySet<string> = new Set(['head', 'commondir']);

/** In a repository's own folder: hooks are run, and the configuration names programs that are. It may hold passwords too. */
const RUN_BY_GIT = /^(?:hooks|config(?:\..*)?)$/;

/** `read`: is it shown, `write`: may it be made or changed. Git's own files may all be read but those that `RUN_BY_GIT` names. */
export type Access = 'read' | 'write';

/** A place on the way down from the root of a workspace. */
export interface Place {
  readonly path: string;
  /** In a repository's own folder (`.git`). */
  readonly inGit: boolean;
}

export interface ProtectedFiles {
  /** The place of a real path at or below the root; `null`: it is protected. */
  placeOf(path: string, access: Access): Place | null;
  /** The place of a name in a folder; `null`: it is protected. */
  below(folder: Place, name: string, access: Access): Place | null;
}

/**
 * @param root real path of the workspace
 * @param paths absolute paths of further files and folders
 */
export async function protectFiles(root: string, paths: readonly string[]): Promise<ProtectedFiles> {
  const own = [...NAMES].map((name) => join(root, name));
  const named = await Promise.all([...paths, ...own].map((path) => realpath(path).catch(() => path)));
  // What lies around the whole workspace is out of reach already.
  const further = named.filter((path) => path === root || !isBelow(root, path));
  const known = new Set(further.map(comparable));
  const hooks = await hooksFolder(root);
  const top: Place = { path: root, inGit: isGitFolder(root) };

  function below(folder: Place, name: string, access: Access): Place | null {
    const path = join(folder.path, name);
    const written = comparable(name);
    if (NAMES.has(written) || known.has(comparable(path))) return null;
    if (access === 'write' && comparable(path) === hooks) return null;
    const inGit = folder.inGit || written === '.git' || isGitFolder(path);
    if (inGit && (access === 'write' || RUN_BY_GIT.test(written))) return null;
    if (access === 'write' && MAKES_REPOSITORY.has(written)) return null;
    return { path, inGit };
  }

  function placeOf(path: string, access: Access): Place | null {
    if (known.has(comparable(root)) || (top.inGit && access === 'write')) return null;
    const names = relative(root, path).split(sep);
    return names.reduce<Place | null>((place, name) => {
      return place === null || name === '' ? place : below(place, name, access);
    }, top);
  }

  return { placeOf, below };
}

/** Git itself knows a repository's folder by this, whatever its name is: that of a work tree, a submodule, or a bare repository. */
function isGitFolder(path: string): boolean {
  const has = (name: string): boolean => existsSync(join(path, name));
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

/** Where the repository of a workspace says that its hooks are, as it is compared; `null`: among git's own files. */
async function hooksFolder(root: string): Promise<string | null> {
  const text = await readFile(join(root, '.git', 'config'), 'utf8').catch(() => '');
  const named = /^\s*hooksPath\s*=\s*"?(?<path>[^"\n]*?)"?\s*$/imu.exec(text)?.groups?.['path'];
  if (named === undefined) return null;
  const path = resolve(root, named);
  return comparable(await realpath(path).catch(() => path));
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A name or path as file systems compare it that are lenient about letter case, composed letters, invisible characters or final dots. */
function comparable(path: string): string {
  return path
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replaceAll(/[. ]+(?=[\\/]|$)/g, '');
}
