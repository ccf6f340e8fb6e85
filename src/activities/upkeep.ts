import { turnWorkflowId } from '../temporal/names.ts';
import { applyRetention, takeUp } from '../store/retention.ts';
import { indexConversation } from '../store/search.ts';
import { embedBehind } from '../store/search/embeddings.ts';
import {
  findOpenTurns,
  findUnindexedConversations,
  findWaitingConversations,
  markInterrupted,
} from '../store/upkeep.ts';
import { describeError } from './activity-error.ts';
import { closeToolCall } from './close-tool-call.ts';
import type { Execution } from './activity-shell.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Seconds that a row may wait before upkeep takes it for one that nobody rang for. */
const UNRUNG_AFTER_SECONDS = 5;
/** Seconds that a turn may be without a sign before Temporal is asked for its workflow. */
const LOST_AFTER_SECONDS = 30;
/** Milliseconds that one run of upkeep spends on indexing: the next one is due 10 s after this one. */
const INDEXING_MILLISECONDS = 6_000;
/** Seconds between two looks at what is too old or too much: adding up sizes reads every entry. */
const RETENTION_EVERY_SECONDS = 600;
/** Milliseconds that one look may delete. */
const RETENTION_MILLISECONDS = 20_000;
/** Conversations that are looked up at a time. */
const INDEXED_AT_ONCE = 20;

/** Rings for rows whose sender died between writing and ringing. */
export async function ringForWaitingMessages(dependencies: ActivityDependencies): Promise<void> {
  const { database, ringDoorbell, reachCrashPoint } = dependencies;
  const waiting = await findWaitingConversations(database, { olderThanSeconds: UNRUNG_AFTER_SECONDS, limit: 200 });
  for (const { conversationId } of waiting) {
    await ringDoorbell(conversationId);
    reachCrashPoint('ringForWaitingMessages:rung');
  }
}

/** Ends turns whose workflow Temporal no longer knows (terminated, or its data lost), and rings for what waits behind them. */
export async function repairLostTurns(dependencies: ActivityDependencies): Promise<void> {
  const { database, isWorkflowOpen, ringDoorbell, reachCrashPoint } = dependencies;
  const open = await findOpenTurns(database, { olderThanSeconds: LOST_AFTER_SECONDS, limit: 200 });
  for (const { turn } of open) {
    if (await isWorkflowOpen(turnWorkflowId(turn.conversationId))) continue;
    if (!(await markInterrupted(database, turn, closeToolCall))) continue;
    reachCrashPoint('repairLostTurns:interrupted');
    await ringDoorbell(turn.conversationId);
    reachCrashPoint('repairLostTurns:rung');
  }
}

/**
 * Indexes what was said since the last look, so that a search finds it indexed; what a crash left
 * behind too. Ends after a while, for what is left there is the next run.
 */
export async function indexFallenBehind(
  dependencies: ActivityDependencies,
  _: void,
  { signal }: Pick<Execution, 'signal'>,
): Promise<void> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(INDEXING_MILLISECONDS)]);
  await indexWords(dependencies, ending);
  await embedPassages(dependencies, ending);
}

/** One conversation that cannot be indexed keeps no other waiting, nor what upkeep does next. */
async function indexWords(
  { database, logger, reachCrashPoint }: ActivityDependencies,
  ending: AbortSignal,
): Promise<void> {
  const failed = new Set<string>();
  for (;;) {
    const limit = INDEXED_AT_ONCE + failed.size;
    const behind = await findUnindexedConversations(database, { limit });
    for (const { conversationId } of behind.filter((each) => !failed.has(each.conversationId))) {
      if (ending.aborted) return;
      try {
        const { skipped } = await indexConversation(database, conversationId, { signal: ending });
        if (skipped > 0)
          logger.warn({ conversationId, skipped }, 'texts that Postgres takes no index of are not searched');
      } catch (error) {
        failed.add(conversationId);
        logger.warn(
          { conversationId, ...describeError(error) },
          'a conversation could not be indexed; upkeep tries again',
        );
      }
      reachCrashPoint('indexFallenBehind:indexed');
    }
    if (behind.length < limit) return;
  }
}

/** A model that cannot be had keeps nobody waiting: search goes by words, and the next run tries again. */
async function embedPassages({ database, embedder, logger }: ActivityDependencies, ending: AbortSignal): Promise<void> {
  if (embedder === null) return;
  try {
    await embedBehind(database, embedder, { signal: ending });
  } catch (error) {
    if (!ending.aborted) logger.warn(describeError(error), 'passages could not be embedded; upkeep tries again');
  }
}

/** Deletes what the rules of `holdfast.yaml` no longer keep, every ten minutes, whichever worker comes first. */
export async function deleteExpired(
  { database, retention, logger, reachCrashPoint }: ActivityDependencies,
  _: void,
  { signal }: Pick<Execution, 'signal'>,
): Promise<void> {
  if (retention.length === 0 || !(await takeUp(database, 'retention', RETENTION_EVERY_SECONDS))) return;
  const ending = AbortSignal.any([signal, AbortSignal.timeout(RETENTION_MILLISECONDS)]);
  const deleted = await applyRetention(database, retention, ending);
  if (deleted === 0) return;
  reachCrashPoint('deleteExpired:deleted');
  logger.info({ deleted }, 'conversations deleted by retention');
}
