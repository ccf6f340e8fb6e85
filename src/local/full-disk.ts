import { statfs } from 'node:fs/promises';
import { errorCode, StackError } from './stack-error.ts';

/** Postgres cannot start without room for one more segment of its log, 16 MB. */
const LEAST_FREE_BYTES = 20_000_000;

/** Whether the system refused a write because the disk, or the user's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
}

/** @param directory on the disk */
export function diskFullError(directory: string, cause: unknown): StackError {
  return new StackError('disk_full', `The disk of ${directory} is full.`, 'Make room there, 1 GB or more.', { cause });
}

/**
 * What to throw instead of an error of the stack: on a full disk a service fails in words of its own, and its log lacks the last ones.
 * @param directory where the stack keeps its data
 */
export async function explainFullDisk(error: unknown, directory: string): Promise<unknown> {
  if (error instanceof StackError && ['disk_full', 'directory_unusable'].includes(error.code)) return error;
  const { bavail, bsize } = await statfs(directory);
  return isDiskFull(error) || bavail * bsize < LEAST_FREE_BYTES ? diskFullError(directory, error) : error;
}
