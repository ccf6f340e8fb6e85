import { pino } from 'pino';
import type { Database } from '../../src/store/database/database.ts';
import type { TextEmbedder } from '../../src/store/search/find-by-meaning.ts';
import { indexFallenBehind } from '../../src/worker/upkeep.ts';
import { NEVER, upkeepDependencies } from '../worker/support/upkeep-dependencies.ts';

/** One run of upkeep's indexing, as a worker with this embedder makes it. @param log gets its warnings */
export function indexOnce(sql: Database, embedder: TextEmbedder | null, log?: (line: string) => void): Promise<void> {
  return indexFallenBehind(
    upkeepDependencies(sql, {
      embedder,
      ...(log !== undefined && { logger: pino({ level: 'warn' }, { write: log }) }),
    }),
    NEVER,
  );
}
