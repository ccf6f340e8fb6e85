/** A connection that is lost between a statement and its answer, whoever ended it. */
const LOST = /^(?:CONNECTION_CLOSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|25P03|57P0\d|08\w{3})$/u;

/**
 * Writes what has an id of its own. A connection that is lost around the commit leaves open whether it counted, so the write is
 * asked for again, and finds what the first one stored.
 * @param asFirst what the caller gets of a write that finds itself stored
 */
export async function storedOnce<Result>(
  write: () => Promise<Result>,
  asFirst: (found: Result) => Result,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && LOST.test(String(error.code)))) throw error;
    return asFirst(await write());
  }
}
