import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileError } from '../errors.ts';
import { openDirectory, TEMPORARY_PREFIX, type Location, type Workspace } from './workspace.ts';

/** Directories that are shown but not entered on the way, because they would drown everything else. */
export const DIRECTORIES_NOT_ENTERED: readonly string[] = ['.git', 'node_modules'];

export interface WalkedEntry {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  /** Absolute path. */
  readonly real: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** A directory that was not entered. */
  readonly notEntered?: true;
}

export interface WalkOptions {
  readonly recursive: boolean;
  readonly signal: AbortSignal;
}

/**
 * Yields what is in a directory, sorted by name, depth first. Links are shown and never followed, so there are
 * no circles and no way out. What is protected is left out, a directory without permission is passed over below the top.
 * @throws ToolError when the directory itself cannot be read.
 */
export async function* walkFiles(
  workspace: Workspace,
  directory: Location,
  options: WalkOptions,
): AsyncGenerator<WalkedEntry> {
  const prefix = directory.display === '.' ? '' : `${directory.display}/`;
  yield* walk(workspace, directory.existing, prefix, options);
}

async function* walk(
  workspace: Workspace,
  real: string,
  prefix: string,
  options: WalkOptions,
): AsyncGenerator<WalkedEntry> {
  for (const found of await readSorted(workspace, real, prefix.replace(/\/$/, ''))) {
    options.signal.throwIfAborted();
    const kind = kindOf(found);
    const path = `${prefix}${found.name}`;
    const below = join(real, found.name);
    if (kind !== 'directory') {
      yield { path, real: below, kind };
      continue;
    }
    const entered = options.recursive && !DIRECTORIES_NOT_ENTERED.includes(found.name);
    yield { path, real: below, kind, ...(options.recursive && !entered ? { notEntered: true as const } : {}) };
    if (!entered) continue;
    try {
      yield* walk(workspace, below, `${path}/`, options);
    } catch (error) {
      // Removed or closed meanwhile: the rest of the tree still counts.
      if (options.signal.aborted) throw error;
    }
  }
}

async function readSorted(workspace: Workspace, real: string, display: string): Promise<Dirent[]> {
  const directory = await openDirectory(workspace, real, display || '.');
  try {
    const found = await readdir(directory.self, { withFileTypes: true });
    const { protectedFiles } = workspace;
    const place = protectedFiles.placeOf(directory.real, 'read');
    return found
      .filter(({ name }) => !name.startsWith(TEMPORARY_PREFIX))
      .filter(({ name }) => place !== null && protectedFiles.below(place, name, 'read') !== null)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  } catch (error) {
    throw fileError(error, display || '.');
  } finally {
    await directory.handle.close();
  }
}

function kindOf(entry: Dirent): WalkedEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
