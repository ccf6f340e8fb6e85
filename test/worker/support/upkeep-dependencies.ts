import { pino } from 'pino';
import type { Database } from '../../../src/store/database/database.ts';
import type { UpkeepDependencies } from '../../../src/worker/upkeep.ts';

/** What upkeep needs when a test calls it itself: all workflows are open, and rings reach nobody. */
export function upkeepDependencies(
  database: Database,
  overrides: Partial<UpkeepDependencies> = {},
): UpkeepDependencies {
  return {
    database,
    taskQueue: 'agent-turn',
    embedder: null,
    retention: [],
    timelineDays: null,
    secrets: [],
    logger: pino({ level: 'silent' }),
    ringDoorbell: () => Promise.resolve(),
    isWorkflowOpen: () => Promise.resolve(true),
    ...overrides,
  };
}

/** Of a look that nobody ends. */
export const NEVER = new AbortController().signal;
