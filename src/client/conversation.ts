import { budgetFor } from '../context/policy/budget.ts';
import { breakdownWindow } from '../context/view/view-arrangement.ts';
import { getConversation as getRow, hasConversation, listConversations } from '../store/conversations/conversations.ts';
import type { ConversationRow } from '../store/conversations/conversations.ts';
import { listWaitingDecisions } from '../store/messages/decisions.ts';
import type { Database, Transaction } from '../store/database/database.ts';
import { readAtOnce } from '../store/database/transaction.ts';
import { readLastTurn } from '../store/turns/turns.ts';
import type { TurnRow } from '../store/turns/turns.ts';
import { readWorkerNeed } from '../store/turns/waits.ts';
import { readWindowSource } from '../store/log/view.ts';
import { HoldfastClientError } from './errors.ts';
import { explainOutcome } from '../turn/explain-outcome.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';
import type { ContextReport, Conversation, TurnSummary } from './types.ts';

export async function describeConversation(database: Database, conversationId: string): Promise<Conversation> {
  return readAtOnce(database, async (open) => {
    const row = await getRow(open, conversationId);
    if (row === null) throw conversationNotFound(conversationId);
    return withLastTurn(open, row);
  });
}

/** Newest activity first. */
export async function describeConversations(
  database: Database,
  page: Parameters<typeof listConversations>[1] & { readonly limit: number },
): Promise<Page<Conversation>> {
  const { limit } = page;
  return readAtOnce(database, async (open) => {
    const { items, hasMore } = pageOf(await listConversations(open, { ...page, limit: limit + 1 }), limit);
    return { items: await Promise.all(items.map((row) => withLastTurn(open, row))), hasMore };
  });
}

/** In a transaction that reads at once: the turn's state and the calls that wait must not be of two moments. */
async function withLastTurn(open: Transaction, row: ConversationRow): Promise<Conversation> {
  const { id: conversationId, activeTurnId: turnId } = row;
  const [turn, waitingCalls] = await Promise.all([
    readLastTurn(open, conversationId),
    listWaitingDecisions(open, conversationId),
  ]);
  const mayNeedWorker = row.state === 'queued' || turn?.waitReason === 'no_worker';
  return {
    conversationId,
    agent: row.agent,
    model: turn?.model ?? row.settings.model,
    user: row.settings.user,
    title: row.title,
    createdAt: row.createdAt,
    entryCount: row.entries,
    eventCount: row.events,
    waitingMessages: row.waitingMessages,
    fill: row.fill,
    secretsRedacted: row.secretsRedacted,
    waitingCalls,
    workerNeed: mayNeedWorker ? await readWorkerNeed(open, { conversationId, turnId }) : null,
    turn: turn === null ? null : summarizeTurn(turn),
  };
}

export function summarizeTurn(row: TurnRow): TurnSummary {
  const { usage } = row;
  return {
    turnId: row.turn.turnId,
    state: stateOf(row),
    outcome: row.outcome,
    reason: row.reason,
    explanation: row.outcome === null ? null : explainOutcome(row.outcome, row.reason, row),
    model: row.model,
    preset: row.preset,
    givenUp: row.givenUp,
    commandOnly: row.commandOnly,
    tookMessages: row.tookMessages,
    steps: row.steps,
    modelCalls: usage.modelCalls,
    compactions: row.compactions,
    overflows: row.overflows,
    usage: {
      input: usage.inputTokens,
      cacheRead: usage.cacheReadTokens,
      cacheWrite: usage.cacheWriteTokens,
      output: usage.outputTokens,
    },
    cost: usage.cost,
    startedAt: row.begunAt,
    endedAt: row.endedAt,
    breakdown: row.breakdown,
  };
}

function stateOf(row: TurnRow): TurnSummary['state'] {
  if (row.outcome !== null) return 'ended';
  if (row.waitsForPeople !== null) return row.waitsForPeople;
  if (row.waitReason === null) return 'running';
  return row.waitReason === 'no_worker' ? 'waiting_for_worker' : 'waiting_for_rate_limit';
}

/** What the next call's request would contain, in tokens by kind, and the numbers in force. */
export async function describeContext(database: Database, conversationId: string): Promise<ContextReport> {
  const source = await readWindowSource(database, conversationId);
  if (source === null) throw conversationNotFound(conversationId, ' with a turn');
  const { snapshot } = source;
  const budget = budgetFor(snapshot.policy, snapshot.modelLimits);
  return {
    ...breakdownWindow({ ...source, budget }),
    model: snapshot.model,
    preset: snapshot.policy.name,
    trigger: budget.trigger,
    target: budget.target,
  };
}

/** Tells an unknown conversation from one that has nothing of what was asked for. */
export async function knownConversation<Row>(
  database: Database,
  conversationId: string,
  rows: readonly Row[],
): Promise<Row[]> {
  if (rows.length === 0) await requireConversation(database, conversationId);
  return [...rows];
}

/** @throws HoldfastClientError `conversation_not_found` */
export async function requireConversation(database: Database, conversationId: string): Promise<void> {
  if (!(await hasConversation(database, conversationId))) throw conversationNotFound(conversationId);
}

function conversationNotFound(conversationId: string, which = ''): HoldfastClientError {
  return new HoldfastClientError('conversation_not_found', `there is no conversation "${conversationId}"${which}`);
}
