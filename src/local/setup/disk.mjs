import { statfs } from 'node:fs/promises';
import { diskFull } from './failure.mjs';

/**
 * Refuses to begin what would fill the disk.
 *
 * @param {string} directory
 * @param {number} bytes
 */
export async function refuseFullDisk(directory, bytes) {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free < bytes) throw diskFull(`${Math.floor(free / 1e6)} MB free in ${directory}, ${bytes / 1e6} MB needed`);
}
