import type { Logger } from 'pino';
import { describeError } from '../activities/runtime/failures.ts';
import { closeToolCall } from '../activities/tool/decisions.ts';
import type { Database } from '../store/database/database.ts';
import { decideCoveredCalls } from '../store/messages/decisions.ts';
import { isOutage } from '../store/database/errors.ts';
import { deleteExpiredMemories } from '../store/memory/expired-memories.ts';
import { applyRetention, deleteOldTimelines } from '../store/upkeep/retention.ts';
import type { RetentionRule } from '../store/upkeep/retention.ts';
import { indexConversation } from '../store/memory/recall-search.ts';
import type { TextEmbedder } from '../store/search/embedder.ts';
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
import { turnWorkflowId } from '../turn/workflow-id.ts';

/** Seconds that a row may wait before upkeep takes it for one that nobody rang for. */
const UNRUNG_AFTER_SECONDS = 5;
/** Seconds since its beginning before which a turn is not looked at: most have ended by then, and Temporal need not be asked. */
const YOUNGEST_LOOKED_AT_SECONDS = 30;
/** Conversations that are found at a time. */
const LOOKED_AT_ONCE = 200;
/** Of them, those whose look is noted with one write. */
const NOTED_AT_ONCE = 20;
/** Calls of Temporal at a time. */
const WORKED_ON_AT_ONCE = 10;
/** Milliseconds that one look spends on indexing. */
const INDEXING_MILLISECONDS = 6_000;
/** Milliseconds that one look may delete. */
const RETENTION_MILLISECONDS = 20_000;
/** Conversations that are looked up at a time. */
const INDEXED_AT_ONCE = 20;

export interface UpkeepDependencies {
  readonly database: Database;
  /** Upkeep cares for the conversations of one queue. */
  readonly taskQueue: string;
  /** Search by meaning beside search by words; `null`: words alone. */
  readonly embedder: TextEmbedder | null;
  /** What is deleted; empty: nothing. */
  readonly retention: readonly RetentionRule[];
  /** Days for which timelines of ended turns are kept; `null`: as long as their conversations. */
  readonly timelineDays: number | null;
  /** Provider keys, masked in what closes a tool call. */
  readonly secrets: readonly string[];
  readonly logger: Logger;
  /** Rings the doorbell of a conversation's turn. */
  readonly ringDoorbell: (conversationId: string) => Promise<void>;
  /** Whether Temporal has an open workflow with this id. */
  readonly isWorkflowOpen: (workflowId: string) => Promise<boolean>;
}

/**
 * One look. Rows that nobody rang for come first: they are users who wait. Then turns whose workflow Temporal no longer knows. Then,
 * time-boxed, what search has not indexed yet, and what retention no longer keeps. A part that fails is logged, keeps nothing of the
 * rest from its turn, and is done by the next look.
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

/** Rings for rows whose sender died between writing and ringing; for one that stays, less and less often. */
export async function ringForWaitingMessages(dependencies: UpkeepDependencies): Promise<void> {
  const { database, taskQueue, ringDoorbell } = dependencies;
  // A decision stands for all turns of their agent: who made it died before it reached them, or they began to wait just then.
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

/** Ends turns whose workflow Temporal no longer knows (terminated, or its data lost), and rings for what waits behind them. */
export async function repairLostTurns(dependencies: UpkeepDependencies): Promise<void> {
  return repairSomeTurns(dependencies, LOOKED_AT_ONCE);
}

/** @param most turns of one look; the next look begins with those behind them */
export async function repairSomeTurns(dependencies: UpkeepDependencies, most: number): Promise<void> {
  const { database, taskQueue, isWorkflowOpen, ringDoorbell } = dependencies;
  const open = await findOpenTurns(database, { taskQueue, olderThanSeconds: YOUNGEST_LOOKED_AT_SECONDS, limit: most });
  const turns = open.map(({ turn }) => turn);
  for (let first = 0; first < turns.length; first += NOTED_AT_ONCE) {
    const some = turns.slice(first, first + NOTED_AT_ONCE);
    // Before they are looked at: what fails or hangs in it must not be what the next look begins with again.
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
 * Works on conversations, several at a time; one that fails is logged and keeps none of the others waiting.
 * @throws what Postgres fails with when it is away: then nothing else can be done either
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

/**
 * Indexes what was said since the last look, so that a search finds it indexed; what a crash left
 * behind too. Ends after a while, for what is left there is the next run.
 */
export async function indexFallenBehind(dependencies: UpkeepDependencies, signal: AbortSignal): Promise<void> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(INDEXING_MILLISECONDS)]);
  await indexWords(dependencies, ending);
  await embedPassages(dependencies, ending);
}

/** One conversation that cannot be indexed keeps no other waiting, nor what upkeep does next. */
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

/** A model that cannot be had keeps nobody waiting: search goes by words, and the next run tries again. */
async function embedPassages(dependencies: UpkeepDependencies, ending: AbortSignal): Promise<void> {
  const { database, embedder, taskQueue, logger } = dependencies;
  if (embedder === null) return;
  try {
    await embedBehind(database, embedder, { signal: ending, taskQueue });
  } catch (error) {
    if (!ending.aborted) logger.warn(describeError(error), 'passages could not be embedded; upkeep tries again');
  }
}

/** Deletes memories that expired, and what the rules of `holdfast.yaml` no longer keep of the queue. */
export async function deleteExpired(
  { database, taskQueue, retention, timelineDays, logger }: UpkeepDependencies,
  signal: AbortSignal,
): Promise<void> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(RETENTION_MILLISECONDS)]);
  for (let isAll = false; !isAll && !ending.aborted;) ({ isAll } = await deleteExpiredMemories(database));
  // By their workflow ids whoever wants to can delete the histories too, which Temporal keeps for as long as its namespace says.
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
