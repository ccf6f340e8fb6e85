import type { Logger } from 'pino';
import { describeError } from '../activities/runtime/failures.ts';
import { closeToolCall } from '../activities/tool/decisions.ts';
import type { Database } from '../store/database/database.ts';
import { decideCoveredCalls } from '../store/messages/decisions.ts';
import { isOutage } from '../store/database/errors.ts';
import { deleteExpiredMemories } from '../store/memory/memories.ts';
import { applyRetention, deleteOldTimelines } from '../store/upkeep/retention.ts';
import type { RetentionRule } from '../store/upkeep/retention.ts';
import { indexConversation } from '../store/memory/recall-search.ts';
import type { TextEmbedder } from '../store/search/find-by-meaning.ts';
import { embedBehind } from '../store/search/embeddings.ts';
import {
  findOpenTurns,
  findUnindexedConversations,
  findWaitingConversations,
  markInterrupted,
  noteLooks,
  noteRing,
} from '../store/upkeep/upkeep.ts';
import { atMost } from '../turn/limits.ts';
import { turnWorkflowId } from '../turn/temporal-names.ts';

/** Seconds after which upkeep takes the ring of a waiting row for lost. */
const UNRUNG_AFTER_SECONDS = 5;
/** Seconds before a turn is looked at. Most have ended by then, so Temporal need not be asked. */
const YOUNGEST_LOOKED_AT_SECONDS = 30;
/** Turns of one look. */
const LOOKED_AT_ONCE = 200;
/** Turns whose look is noted in one write. */
const NOTED_AT_ONCE = 20;
/** Concurrent calls of Temporal. */
const WORKED_ON_AT_ONCE = 10;
/** Milliseconds of indexing in one look. */
const INDEXING_MILLISECONDS = 6_000;
/** Milliseconds of deleting in one look. */
const RETENTION_MILLISECONDS = 20_000;
/** Conversations that are indexed in one batch. */
const INDEXED_AT_ONCE = 20;

export interface UpkeepDependencies {
  readonly database: Database;
  /** Upkeep serves the conversations of one queue. */
  readonly taskQueue: string;
  /** Search by meaning beside search by words; `null`: words alone. */
  readonly embedder: TextEmbedder | null;
  /** Rules of deletion. Empty: nothing is deleted. */
  readonly retention: readonly RetentionRule[];
  /** Days for which timelines of ended turns are kept; `null`: as long as their conversations. */
  readonly timelineDays: number | null;
  /** Provider keys, masked in the result of a closed tool call. */
  readonly secrets: readonly string[];
  readonly logger: Logger;
  /** Rings the doorbell of a conversation's turn. */
  readonly ringDoorbell: (conversationId: string) => Promise<void>;
  /** Whether Temporal has an open workflow with this id. */
  readonly isWorkflowOpen: (workflowId: string) => Promise<boolean>;
}

/**
 * Runs upkeep once. Rows with a lost ring come first, because users wait for them. Then come turns whose workflow Temporal lost. Then,
 * with time limits, indexing and retention. A part that fails is logged, does not stop the others, and is repeated by the next look.
 */
export async function lookAfterConversations(
  dependencies: UpkeepDependencies,
  signal: AbortSignal,
  isRetentionDue = true,
): Promise<void> {
  const parts = [
    ringForWaitingMessages,
    repairLostTurns,
    indexFallenBehind,
    ...(isRetentionDue ? [deleteExpired] : []),
  ];
  for (const part of parts) {
    try {
      await part(dependencies, signal);
    } catch (error) {
      if (signal.aborted) return;
      dependencies.logger.warn(
        { part: part.name, ...describeError(error) },
        'upkeep failed; its next look tries again',
      );
    }
  }
}

/** Rings for rows whose sender died before its ring, less and less often for a row that stays. */
export async function ringForWaitingMessages(dependencies: UpkeepDependencies): Promise<void> {
  const { database, taskQueue, ringDoorbell } = dependencies;
  // A standing decision covers all turns of the agent. Its sender may have died before it reached them, or they began to wait at that
  // moment.
  await workOnEach(dependencies, await decideCoveredCalls(database, { taskQueue }), ({ conversationId }) =>
    ringDoorbell(conversationId),
  );
  const rung: string[] = [];
  let found: { readonly conversationId: string }[];
  do {
    found = await findWaitingConversations(database, {
      taskQueue,
      olderThanSeconds: UNRUNG_AFTER_SECONDS,
      limit: LOOKED_AT_ONCE,
      except: rung,
    });
    rung.push(...found.map(({ conversationId }) => conversationId));
    await workOnEach(dependencies, found, async ({ conversationId }) => {
      await ringDoorbell(conversationId);
      await noteRing(database, conversationId);
    });
  } while (found.length === LOOKED_AT_ONCE);
}

/** Ends turns whose workflow Temporal lost or terminated, and rings for the messages that wait behind them. */
export async function repairLostTurns(dependencies: UpkeepDependencies): Promise<void> {
  return repairSomeTurns(dependencies, LOOKED_AT_ONCE);
}

/** @param most turns of this look; the next look begins after them */
export async function repairSomeTurns(dependencies: UpkeepDependencies, most: number): Promise<void> {
  const { database, taskQueue, isWorkflowOpen, ringDoorbell } = dependencies;
  const open = await findOpenTurns(database, { taskQueue, olderThanSeconds: YOUNGEST_LOOKED_AT_SECONDS, limit: most });
  const turns = open.map(({ turn }) => turn);
  for (let first = 0; first < turns.length; first += NOTED_AT_ONCE) {
    const some = turns.slice(first, first + NOTED_AT_ONCE);
    // Noted before the look, so that the next look does not begin with a turn that fails or hangs.
    await noteLooks(
      database,
      some.map(({ turnId }) => turnId),
    );
    await workOnEach(dependencies, some, async (turn) => {
      if (await isWorkflowOpen(turnWorkflowId(turn.conversationId))) return;
      if (!(await markInterrupted(database, turn, closeToolCall(dependencies)))) return;
      await ringDoorbell(turn.conversationId);
    });
  }
}

/**
 * Works on conversations, several at a time. A conversation that fails is logged and does not stop the others.
 * @throws the error of an unreachable Postgres, because then nothing else can be done
 */
async function workOnEach<Of extends { readonly conversationId: string }>(
  { logger }: UpkeepDependencies,
  conversations: readonly Of[],
  work: (conversation: Of) => Promise<void>,
): Promise<void> {
  await atMost(WORKED_ON_AT_ONCE, conversations, async (conversation) => {
    try {
      await work(conversation);
    } catch (error) {
      if (isOutage(error)) throw error;
      const { conversationId } = conversation;
      logger.warn({ conversationId, ...describeError(error) }, 'upkeep failed for a conversation and goes on');
    }
  });
}

/** Indexes new entries, and those that a crash left unindexed. Ends after a while; the next look does the rest. */
export async function indexFallenBehind(dependencies: UpkeepDependencies, signal: AbortSignal): Promise<void> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(INDEXING_MILLISECONDS)]);
  await indexWords(dependencies, ending);
  await embedPassages(dependencies, ending);
}

/** A conversation that cannot be indexed stops neither the others nor the rest of upkeep. */
async function indexWords({ database, taskQueue, logger }: UpkeepDependencies, ending: AbortSignal): Promise<void> {
  const failed = new Set<string>();
  for (;;) {
    const limit = INDEXED_AT_ONCE + failed.size;
    const behind = await findUnindexedConversations(database, { taskQueue, limit });
    for (const { conversationId } of behind.filter((each) => !failed.has(each.conversationId))) {
      if (ending.aborted) return;
      try {
        await indexConversation(database, conversationId, { signal: ending });
      } catch (error) {
        failed.add(conversationId);
        logger.warn(
          { conversationId, ...describeError(error) },
          'a conversation could not be indexed; upkeep tries again',
        );
      }
    }
    if (behind.length < limit) return;
  }
}

/** If the model fails, search uses words alone, and the next look tries again. */
async function embedPassages(dependencies: UpkeepDependencies, ending: AbortSignal): Promise<void> {
  const { database, embedder, taskQueue, logger } = dependencies;
  if (embedder === null) return;
  try {
    await embedBehind(database, embedder, { signal: ending, taskQueue });
  } catch (error) {
    if (!ending.aborted) logger.warn(describeError(error), 'passages could not be embedded; upkeep tries again');
  }
}

/** Deletes expired memories, and rows of the queue that the retention of `holdfast.yaml` no longer keeps. */
export async function deleteExpired(
  { database, taskQueue, retention, timelineDays, logger }: UpkeepDependencies,
  signal: AbortSignal,
): Promise<void> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(RETENTION_MILLISECONDS)]);
  for (let isAll = false; !isAll && !ending.aborted;) ({ isAll } = await deleteExpiredMemories(database));
  // With the workflow ids, a user can also delete the histories, which Temporal keeps for the namespace's retention.
  const passedOver = (conversationId: string, error: unknown): void =>
    logger.warn(
      { conversationId, ...describeError(error) },
      'nothing of a conversation was deleted by retention, since others had it locked; upkeep tries again',
    );
  await applyRetention(database, { taskQueue, rules: retention }, ending, {
    deleted: (conversationId) =>
      logger.info({ conversationId, workflowId: turnWorkflowId(conversationId) }, 'conversation deleted by retention'),
    passedOver,
  });
  if (timelineDays !== null) await deleteOldTimelines(database, { taskQueue, days: timelineDays }, ending, passedOver);
}
