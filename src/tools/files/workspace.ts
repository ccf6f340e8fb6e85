/**
 * Confinement to the agent's workspace.
 *
 * A path is refused if it is absolute, has a `..`, or leads outside through a symbolic link. Links that stay
 * inside are followed, because package managers make many of them.
 *
 * The check cannot be fooled by a directory that is swapped for a link between check and use: what was opened
 * is checked again after opening, through `/proc/self/fd`, and files are created and renamed through the
 * handle of their directory. Where there is no `/proc` (macOS), inode numbers are compared instead, which
 * leaves a window of microseconds. A hard link made by someone else can still show an outside file for
 * reading; writing replaces the link and leaves the outside file alone.
 *
 * Inside, some files are protected (`protected-files.ts`): they are checked at the same moments.
 */
import { constants } from 'node:fs';
import { lstat, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { fileError, systemErrorCode, ToolError } from '../errors.ts';
import type { ToolContext } from '../tool.ts';
import { protectFiles, type Access, type ProtectedFiles } from './protected-files.ts';

/** Longest path that Linux takes (`PATH_MAX`), in bytes. */
const PATH_LIMIT_BYTES = 4_096;

/** Beginning of the names of temporary files; such files are never listed. */
export const TEMPORARY_PREFIX = '.holdfast-';

interface Workspace {
  /** Real absolute path. */
  readonly root: string;
  readonly protectedFiles: ProtectedFiles;
}

/** Something that exists in a workspace. */
export interface ExistingLocation {
  readonly workspace: Workspace;
  /** As shown to the model: relative to the workspace, `.` for the workspace itself. */
  readonly display: string;
  /** Real absolute path. */
  readonly existing: string;
}

/** Where a path of the model leads. `existing` is the deepest part that exists; it is inside the workspace. */
export interface Location extends ExistingLocation {
  /** Names below `existing` that do not exist yet. */
  readonly missing: readonly string[];
}

/** The part of a call's context that says which files its tool may reach. */
type FileContext = Pick<ToolContext, 'workspace' | 'protectedPaths'>;

/** @throws ToolError `not_found` when the workspace is no directory. */
export async function openWorkspace({ workspace: directory, protectedPaths }: FileContext): Promise<Workspace> {
  try {
    const root = await realpath(directory);
    if ((await stat(root)).isDirectory()) return { root, protectedFiles: await protectFiles(root, protectedPaths) };
  } catch (error) {
    throw new ToolError('not_found', "The agent's workspace cannot be opened: no file can be read or written.", {
      cause: error,
    });
  }
  throw new ToolError('not_found', "The agent's workspace is not a directory: no file can be read or written.");
}

/**
 * Splits a path into its names.
 * @throws ToolError `path_refused` for absolute paths, `..`, NUL and paths over 4,096 bytes.
 */
export function pathSegments(path: string): readonly string[] {
  if (path.includes('\0')) throw new ToolError('path_refused', 'The path holds a NUL character.');
  if (Buffer.byteLength(path) > PATH_LIMIT_BYTES) {
    throw new ToolError('path_refused', `The path is longer than ${PATH_LIMIT_BYTES} bytes.`);
  }
  if (isAbsolute(path) || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('~')) {
    throw new ToolError('path_refused', `${path} is absolute. Paths are relative to the workspace, like src/index.ts.`);
  }
  const segments = path.split(sep === '\\' ? /[\\/]/ : '/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) {
    throw new ToolError('path_refused', `${path} has a "..". Paths start at the workspace and only lead down.`);
  }
  return segments;
}

/**
 * Finds where a path leads, following links inside the workspace.
 * @throws ToolError `path_refused` when it leads outside or through a dangling link; `protected`; `not_found` without a workspace.
 */
export async function locate(context: FileContext, path: string): Promise<Location> {
  const workspace = await openWorkspace(context);
  const segments = pathSegments(path);
  const display = segments.join('/') || '.';
  // By its own name too: a link may stand where Holdfast looks.
  refuseClosed(workspace, { real: join(workspace.root, ...segments), display });
  for (let depth = segments.length; depth >= 0; depth -= 1) {
    const candidate = join(workspace.root, ...segments.slice(0, depth));
    const existing = await existingRealPath(candidate, display);
    if (existing === null) continue;
    const missing = segments.slice(depth);
    refuseClosed(workspace, { real: join(existing, ...missing), display });
    return { workspace, display, existing, missing };
  }
  throw new ToolError('not_found', "The agent's workspace no longer exists.");
}

async function existingRealPath(candidate: string, display: string): Promise<string | null> {
  try {
    return await realpath(candidate);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw fileError(error, display);
  }
  const link = await lstat(candidate).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw fileError(error, display);
  });
  // Writing through a dangling link would create its target, wherever that is.
  if (link !== null) {
    throw new ToolError('path_refused', `${display} goes through a symbolic link to something that does not exist.`);
  }
  return null;
}

/** @throws ToolError `path_refused` for a place outside, `protected` for one that tools keep away from */
export function refuseClosed(
  { root, protectedFiles }: Workspace,
  { real, display, access = 'read' }: { readonly real: string; readonly display: string; readonly access?: Access },
): void {
  const way = relative(root, real);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw new ToolError('path_refused', `${display} leads out of the workspace through a symbolic link.`);
  }
  if (protectedFiles.placeOf(real, access) === null) throw protectedError(display);
}

function protectedError(display: string): ToolError {
  return new ToolError(
    'protected',
    `${display} is protected: file tools do not open Holdfast's state and configuration, the files that \`modules\` names there, files with ` +
      "keys, or git's hooks and configuration, and change nothing in a .git folder.",
  );
}

/**
 * The same place, once all of it exists.
 * @throws ToolError `not_found`
 */
export function requireExisting(location: Location): ExistingLocation {
  if (location.missing.length > 0) throw failure('ENOENT', location);
  return location;
}

/** An error of the file system that Holdfast finds itself. */
export function failure(code: 'ENOENT' | 'EISDIR', { display }: Pick<ExistingLocation, 'display'>): ToolError {
  return fileError(Object.assign(new Error(), { code }), display);
}

/**
 * Opens a regular file for reading and checks what was really opened.
 * @throws ToolError when it is no regular file or lies outside.
 */
export async function openFile(place: ExistingLocation): Promise<FileHandle> {
  // O_NONBLOCK: opening a named pipe would wait for a writer for ever.
  const { handle } = await openChecked(place, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (found.isFile()) return handle;
    if (found.isDirectory()) throw failure('EISDIR', place);
    throw new ToolError('wrong_kind', `${place.display} is neither a file nor a directory (a pipe, socket or device).`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A directory held open: names in it mean the same directory whatever happens to its path. */
export interface OpenDirectory {
  readonly handle: FileHandle;
  /** Path of a name in the directory. */
  readonly path: (name: string) => string;
  /** Path of the directory itself. */
  readonly self: string;
  /** The path that was opened, without links. */
  readonly real: string;
}

/** @throws ToolError when it is no directory or lies outside. */
export async function openDirectory(place: ExistingLocation): Promise<OpenDirectory> {
  const opened = await openChecked(place, constants.O_RDONLY | constants.O_DIRECTORY);
  const self = hasDescriptorPaths() ? `/proc/self/fd/${opened.handle.fd}` : opened.real;
  return { ...opened, self, path: (name) => `${self}/${name}` };
}

function hasDescriptorPaths(): boolean {
  return process.platform === 'linux';
}

async function openChecked(
  { workspace, existing, display }: ExistingLocation,
  flags: number,
): Promise<{ readonly handle: FileHandle; readonly real: string }> {
  let handle: FileHandle;
  try {
    handle = await open(existing, flags | constants.O_NOFOLLOW);
  } catch (error) {
    throw fileError(error, display);
  }
  try {
    const real = await realPathOfOpen(handle, existing);
    refuseClosed(workspace, { real, display });
    return { handle, real };
  } catch (error) {
    await handle.close();
    throw fileError(error, display);
  }
}

async function realPathOfOpen(handle: FileHandle, real: string): Promise<string> {
  if (hasDescriptorPaths()) return readlink(`/proc/self/fd/${handle.fd}`);
  const [opened, now, path] = await Promise.all([handle.stat(), stat(real), realpath(real)]);
  if (opened.ino !== now.ino || opened.dev !== now.dev) {
    throw new ToolError('path_refused', 'The file was replaced while it was opened. Try again.');
  }
  return path;
}
