import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RE2JS } from 're2js';
import { fileError, ToolError } from '../errors.ts';
import { openDirectory, TEMPORARY_PREFIX } from './workspace.ts';
import type { ExistingLocation } from './workspace.ts';

/** Directories that are shown but not entered on the way, because they would drown everything else. */
export const DIRECTORIES_NOT_ENTERED: readonly string[] = ['.git', 'node_modules'];

export interface WalkedEntry extends ExistingLocation {
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** A directory that was not entered. */
  readonly notEntered?: true;
}

interface WalkOptions {
  readonly recursive: boolean;
  readonly signal: AbortSignal;
}

/**
 * Yields what is in a directory, sorted by name, depth first. Links are shown and never followed, so there are
 * no circles and no way out. What is protected is left out, a directory without permission is passed over below the top.
 * @throws ToolError when the directory itself cannot be read.
 */
export async function* walkFiles(directory: ExistingLocation, options: WalkOptions): AsyncGenerator<WalkedEntry> {
  const prefix = directory.display === '.' ? '' : `${directory.display}/`;
  for (const found of await readSorted(directory)) {
    options.signal.throwIfAborted();
    const kind = kindOf(found);
    const { workspace } = directory;
    const place = { workspace, display: `${prefix}${found.name}`, existing: join(directory.existing, found.name) };
    if (kind !== 'directory') {
      yield { ...place, kind };
      continue;
    }
    const entered = options.recursive && !DIRECTORIES_NOT_ENTERED.includes(found.name);
    yield { ...place, kind, ...(options.recursive && !entered ? { notEntered: true as const } : {}) };
    if (!entered) continue;
    try {
      yield* walkFiles(place, options);
    } catch (error) {
      // Removed or closed meanwhile: the rest of the tree still counts.
      if (options.signal.aborted) throw error;
    }
  }
}

async function readSorted(place: ExistingLocation): Promise<Dirent[]> {
  const directory = await openDirectory(place);
  try {
    const found = await readdir(directory.self, { withFileTypes: true });
    const { protectedFiles } = place.workspace;
    const folder = protectedFiles.placeOf(directory.real, 'read');
    return found
      .filter(({ name }) => !name.startsWith(TEMPORARY_PREFIX))
      .filter(({ name }) => folder !== null && protectedFiles.below(folder, name, 'read') !== null)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  } catch (error) {
    throw fileError(error, place.display);
  } finally {
    await directory.handle.close();
  }
}

function kindOf(entry: Dirent): WalkedEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

/** Longest glob, in characters. */
const GLOB_LIMIT = 500;

/** Of a glob what means something, longest first; anything else is one character that stands for itself. */
const TOKENS =
  /(?<crossing>(?<=^|\/|[{,])\*\*\/)|(?<below>(?<=^|\/|[{,])\*\*$)|(?<stars>\*+)|\[(?<not>[!^]?)(?<set>\]?[^\]]*)\]|\\(?<escaped>.)|./gsu;

/**
 * A test for paths relative to the workspace. `*` and `?` stay within a name, `**` crosses directories,
 * `{a,b}` and `[a-z]` as usual. A glob without `/` is compared with the file's name at any depth, like ripgrep's.
 * RE2 takes time in proportion to the path: JavaScript's engine would backtrack for minutes on some globs, and models write them.
 * @throws ToolError `input_refused` for a glob that is too long or has an open brace.
 */
export function globTest(glob: string): (path: string) => boolean {
  if (glob.length > GLOB_LIMIT) {
    throw new ToolError('input_refused', `The glob is longer than ${GLOB_LIMIT} characters.`);
  }
  const anchored = glob.startsWith('/') ? glob.slice(1) : glob.includes('/') ? glob : `**/${glob}`;
  const pattern = RE2JS.compile(expressionOf(anchored, glob), RE2JS.DOTALL);
  return (path) => pattern.matches(path);
}

function expressionOf(glob: string, original: string): string {
  let depth = 0;
  const pieces = [...glob.matchAll(TOKENS)].map(({ 0: token, groups = {} }) => {
    const { crossing, below, stars, not, set, escaped } = groups;
    if (crossing !== undefined) return '(?:[^/]*/)*';
    // What ends with ** means everything below, not the directory itself.
    if (below !== undefined) return '.+';
    if (stars !== undefined) return '[^/]*';
    if (set !== undefined && set !== '') return setOf(set, not !== '');
    if (escaped !== undefined) return RE2JS.quote(escaped);
    if (token === '?') return '[^/]';
    if (token === '{') {
      depth += 1;
      return '(?:';
    }
    if (token === '}' && depth > 0) {
      depth -= 1;
      return ')';
    }
    return token === ',' && depth > 0 ? '|' : RE2JS.quote(token);
  });
  if (depth === 0) return pieces.join('');
  throw new ToolError('input_refused', `The glob ${original} has a "{" without "}".`);
}

/** `[a-z_]`, `[!a-z]`; of what stands between the brackets a dash alone has a meaning. */
function setOf(members: string, isNegated: boolean): string {
  const quoted = members.replaceAll(/[\\[\]^&~]/gu, String.raw`\$&`);
  return `[${isNegated ? '^/' : ''}${quoted}]`;
}
