/** A failure of set-up, for the user: what happened, and the next step. */
export class SetupFailure extends Error {
  /**
   * @param {string} what
   * @param {string} next
   * @param {ErrorOptions} [options]
   */
  constructor(what, next, options) {
    super(what, options);
    this.name = 'SetupFailure';
    this.next = next;
  }
}

/**
 * A failed file operation as one clear message; other errors come back as they are.
 *
 * @param {unknown} error
 * @param {string} doing what was being done, such as "writing /home/ada/.cache/holdfast"
 * @returns {Error}
 */
export function explainFileError(error, doing) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(doing, error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return notPermitted(doing, error);
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * @param {string} doing
 * @param {unknown} [cause]
 */
export function diskFull(doing, cause) {
  return new SetupFailure(
    `The disk is full (${doing}).`,
    'Free 1 GB and run the command again; what is done is kept.',
    { cause },
  );
}

/**
 * @param {string} doing
 * @param {unknown} [cause]
 */
export function notPermitted(doing, cause) {
  return new SetupFailure(
    `No write permission (${doing}).`,
    'Run as the owner of the folder or make it writable; HOLDFAST_CACHE names another folder for binaries.',
    { cause },
  );
}

/**
 * What a failed program said about the disk or about rights, as a clear message; null when it was something else.
 *
 * @param {string} output
 * @param {string} doing
 */
export function explainOutput(output, doing) {
  if (/ENOSPC|No space left on device|Errno 28|EDQUOT/.test(output)) return diskFull(doing);
  if (/EACCES|EROFS|Permission denied|Read-only file system/.test(output)) return notPermitted(doing);
  return null;
}

/**
 * The last lines of a program's output, indented, for a message.
 *
 * @param {string} output
 */
export function lastLines(output) {
  return output
    .trimEnd()
    .split('\n')
    .slice(-8)
    .map((line) => `    ${line}`)
    .join('\n');
}
