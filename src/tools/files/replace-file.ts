import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileError, systemErrorCode, ToolError } from '../errors.ts';
import type { ToolContext } from '../tool.ts';
import { failure, openDirectory, refuseClosed, TEMPORARY_PREFIX, openFile, requireExisting } from './workspace.ts';
import type { Location, OpenDirectory, ExistingLocation } from './workspace.ts';

/** Names the call, so that a retry finds and removes what a killed attempt left behind. */
type ReplacingCall = Pick<ToolContext, 'idempotencyKey' | 'attempt' | 'requireClaim'>;

/**
 * Writes a whole file: a temporary file beside it, flushed to disk, then renamed over it, so that a reader (and a
 * crash) sees the old content or the new one, never a mix. Missing directories are made; the mode of an existing
 * file is kept. A zombie, whose call another attempt has, changes nothing, whenever it was frozen.
 * @throws ToolError when the place cannot be written; the old content then stands.
 */
export async function replaceFile(location: Location, content: Uint8Array, call: ReplacingCall): Promise<void> {
  const { workspace, display } = location;
  refuseClosed(workspace, { real: join(location.existing, ...location.missing), display, access: 'write' });
  const { directory, name } = await openParent(location);
  try {
    refuseClosed(workspace, { real: join(directory.real, name), display, access: 'write' });
    const mode = await modeOfExisting(directory.path(name), location);
    await removeOlderAttempts(directory, call);
    const temporary = directory.path(temporaryName(call, call.attempt));
    try {
      await writeTemporary(temporary, content, mode);
      // Who was replaced before this does not get past it. Who is replaced behind it loses the temporary file to its successor, or has
      // renamed it before the successor reads.
      await call.requireClaim();
      await rename(temporary, directory.path(name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await directory.handle.sync();
  } catch (error) {
    throw fileError(error, display);
  } finally {
    await directory.handle.close();
  }
}

/** Opens the directory of a file to be, making the missing ones through the handle of the one above. */
async function openParent(location: Location): Promise<{ readonly directory: OpenDirectory; readonly name: string }> {
  const { workspace, existing, missing, display } = location;
  const name = missing.at(-1);
  if (name === undefined) {
    if (existing === workspace.root) throw new ToolError('wrong_kind', 'The path names the workspace, not a file.');
    return { directory: await openDirectory({ ...location, existing: dirname(existing) }), name: basename(existing) };
  }
  let directory = await openDirectory(location);
  for (const step of missing.slice(0, -1)) {
    const above = directory;
    try {
      await mkdir(above.path(step)).catch((error: unknown) => {
        if (systemErrorCode(error) !== 'EEXIST') throw fileError(error, display);
      });
      directory = await openDirectory({ ...location, existing: above.path(step) });
    } finally {
      await above.handle.close();
    }
  }
  return { directory, name };
}

async function modeOfExisting(path: string, place: ExistingLocation): Promise<number | null> {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) throw failure('EISDIR', place);
    if (!found.isFile()) {
      throw new ToolError('wrong_kind', `${place.display} is not a regular file, so it is not overwritten.`);
    }
    return found.mode & 0o7777;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function temporaryName(call: ReplacingCall, attempt: number): string {
  const key = createHash('sha256').update(call.idempotencyKey).digest('hex').slice(0, 16);
  return `${TEMPORARY_PREFIX}${key}-${attempt}.tmp`;
}

/** Takes the file from under an attempt that was killed, or that is a zombie: its rename then fails. */
async function removeOlderAttempts(directory: OpenDirectory, call: ReplacingCall): Promise<void> {
  for (let attempt = 1; attempt <= call.attempt; attempt += 1) {
    await rm(directory.path(temporaryName(call, attempt)), { force: true });
  }
}

async function writeTemporary(path: string, content: Uint8Array, mode: number | null): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  // A new file gets 0666 less the umask, as any program's would; an existing one keeps exactly its mode.
  const handle: FileHandle = await open(path, flags, mode ?? 0o666);
  try {
    await handle.writeFile(content);
    if (mode !== null) await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Bytes of the largest file that is edited or appended to: it is held in memory while it is rewritten. */
const EDITABLE_BYTES = 64 * 1_024 * 1_024;

/**
 * The bytes of a file that is about to be rewritten.
 * @throws ToolError `too_large` over 64 MB, and as `openFile` does.
 */
export async function readWhole(location: Location): Promise<Buffer> {
  const file = await openFile(requireExisting(location));
  try {
    const { size } = await file.stat();
    if (size > EDITABLE_BYTES) {
      throw new ToolError(
        'too_large',
        `${location.display} has ${size} bytes; only files up to ${EDITABLE_BYTES} can be changed.`,
      );
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}
