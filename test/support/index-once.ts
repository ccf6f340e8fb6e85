import { pino } from 'pino';
import { indexFallenBehind } from '../../src/activities/upkeep.ts';
import type { Database } from '../../src/store/database.ts';
import type { TextEmbedder } from '../../src/store/search/embedder.ts';
import { activityDependencies } from '../activities/support/activity-dependencies.ts';

/** One run of upkeep's indexing, as a worker with this embedder makes it. @param log gets its warnings */
export function indexOnce(sql: Database, embedder: TextEmbedder | null, log?: (line: string) => void): Promise<void> {
  return indexFallenBehind(
    {
      ...activityDependencies(sql),
      embedder,
      ...(log !== undefined && { logger: pino({ level: 'warn' }, { write: log }) }),
    },
    undefined,
    { signal: new AbortController().signal },
  );
}
