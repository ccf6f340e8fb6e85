import type { Logger } from 'pino';
import { describeError } from '../activities/activity-error.ts';
import type { Database } from '../store/database.ts';
import type { TextEmbedder } from '../store/search/embedder.ts';
import { ensureEmbeddings } from '../store/search/vector-table.ts';

/**
 * A worker that starts drops vectors of another model, for upkeep to make them anew; the model of who starts last counts. Later it
 * lets be what it finds: workers with different models would drop each other's vectors each minute, and pay for new ones.
 * What goes wrong keeps no worker from starting.
 */
export async function renewVectors(database: Database, embedder: TextEmbedder | null, logger: Logger): Promise<void> {
  if (embedder === null) return;
  try {
    await ensureEmbeddings(database, embedder, { isAnew: true });
  } catch (error) {
    logger.warn(describeError(error), 'the tables of vectors could not be made; upkeep tries again');
  }
}
