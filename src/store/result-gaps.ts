import type { Database } from './database.ts';

/** The part of postgres.js's query that answers whoever waits for it. */
interface AnsweredQuery {
  resolve(result: unknown): void;
  handle(): Promise<void>;
}

/** Prototypes that are mended; all pools share one. */
const mended = new WeakSet<AnsweredQuery>();

/**
 * Takes away the gaps in front of rows. postgres.js 3.4.9 counts the rows of a statement until it is complete, which one that
 * fails after its first rows never is, nor one whose connection is lost: the rows of the next statement there, on the same
 * connection or on the one made after it, stand behind as many holes, as if it had found nothing. A turn was taken for
 * replaced so, after Postgres had been restarted (`npm run soak -- --kills 500 --seed 7`).
 *
 * Done where a query is answered, because its bytes are not seen under TLS.
 */
export function closeResultGaps(sql: Database): void {
  const prototype = Object.getPrototypeOf(sql`select`) as AnsweredQuery;
  if (mended.has(prototype)) return;
  mended.add(prototype);
  const begun = new WeakSet<AnsweredQuery>();
  const { handle } = prototype;
  prototype.handle = function handleWithoutGaps(this: AnsweredQuery): Promise<void> {
    if (!begun.has(this)) {
      begun.add(this);
      const { resolve } = this;
      this.resolve = (result) => resolve(withoutGap(result));
    }
    return handle.call(this);
  };
}

/** In place: a result has properties besides its rows. */
function withoutGap(result: unknown): unknown {
  if (!Array.isArray(result) || result.length === 0 || 0 in result) return result;
  result.splice(0, Number(Object.keys(result).find((key) => /^\d+$/u.test(key)) ?? result.length));
  return result;
}
