import { appendFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { NO_CALIBRATION, estimateTokens } from '../../context/log/estimate.ts';
import { subtractMeasurements } from '../../context/log/measurements.ts';
import { mayGoOn, budgetFor } from '../../context/policy/budget.ts';
import { judgeCompaction, weakerForm } from '../../context/plan/plan-compaction.ts';
import { continuationContent } from '../../context/view/notes.ts';
import { breakdownWindow } from '../../context/view/view-arrangement.ts';
import { listParts } from '../../store/compactions/compaction-parts.ts';
import {
  endCompaction,
  commitCompaction as storeCommit,
  replanCompaction,
} from '../../store/compactions/commit-compaction.ts';
import { getCompaction } from '../../store/compactions/compactions.ts';
import { readSummaryText } from '../../store/compactions/summaries.ts';
import type { CompactionRow } from '../../store/compactions/compactions.ts';
import { readPlanSource } from '../../store/compactions/fit-check.ts';
import type { PlanSource } from '../../store/compactions/fit-check.ts';
import type { Transaction } from '../../store/database/database.ts';
import { newId } from '../../store/database/ids.ts';
import { newContent } from '../../store/log/entries.ts';
import type { NewContent, NoteRequest } from '../../store/log/entries.ts';
import { readFlushScope } from '../../store/memory/memory-users.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import { RECALL_OPEN } from '../../tools/runtime/names.ts';
import type { CommitCompactionInput, CommitCompactionResult } from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { memoriesAfter } from '../turn/agent-memories.ts';
import { limitNotes, reachedLimit } from '../turn/check-limits.ts';
import { finishCompaction } from './finished-summary.ts';
import type { FinishedCompaction } from './finished-summary.ts';
import { describePlan, logStarted, makePlan, readFit } from './plan-compaction.ts';
import type { CountedFit } from './plan-compaction.ts';

interface CommitState {
  readonly turn: TurnReference;
  readonly compaction: CompactionRow;
  readonly check: CountedFit;
  readonly source: PlanSource;
}

/**
 * Puts the written parts together, measures the view with them, and commits if it is small enough. Otherwise plans the next weaker form.
 * Either is one transaction, which writes nothing if epoch or head have changed. The parts' texts were checked when they arrived. Secrets are
 * removed here from the ledger and from a hook's summary.
 */
export async function commitCompaction(
  dependencies: ActivityDependencies,
  input: CommitCompactionInput,
): Promise<CommitCompactionResult> {
  const result = await commit(dependencies, input);
  if (result.kind !== 'committed' && result.kind !== 'kept') return result;
  // The summaries cost like answers, and the model is asked without another check.
  const limit = await reachedLimit(dependencies, input.turn);
  return limit === null ? result : { ...result, limit };
}

async function commit(
  dependencies: ActivityDependencies,
  { turn, compactionId }: CommitCompactionInput,
): Promise<CommitCompactionResult> {
  const { database } = dependencies;
  const compaction = await getCompaction(database, compactionId);
  const finished = await finishedBefore(dependencies, turn, compaction);
  if (finished?.kind === 'committed') await logSummary(dependencies, turn, compaction);
  if (finished !== null) return finished;
  const parts = await listParts(database, compactionId);
  const check = await readFit(database, turn);
  if (check.headEntryId !== compaction.headEntryId) return { kind: 'moved' };
  const source = await readPlanSource(database, turn);
  const state: CommitState = { turn, compaction, check, source };
  // A flush to memory runs beside the summary, so the compaction goes on without it.
  const readable = parts.filter((part) => part.part.kind !== 'flush');
  if (readable.some((part) => part.state !== 'written')) return planWeaker(dependencies, state, 'summary_failed');
  const { snapshot } = await readSnapshot(database, turn.turnId);
  const { budget } = check;
  const done = await finishCompaction(dependencies, {
    turn,
    compaction,
    parts: readable,
    check,
    source,
    snapshot,
  });
  const verdict = judgeCompaction({
    plan: compaction.plan,
    budget,
    tokensBefore: compaction.tokensBefore,
    tokensAfter: done.tokensAfter,
    lastForm: weakerForm(compaction.form) === null,
  });
  if (verdict !== 'accepted') return planWeaker(dependencies, state, verdict);
  const keepsMemory = check.policy.summary.memory !== null && done.summary !== null;
  const scope = await readFlushScope(database, turn.conversationId, snapshot.workspace);
  const committed = await storeCommit(database, {
    turn,
    compactionId,
    summary: done.summary,
    viewAfter: subtractMeasurements(done.after, check.fixed),
    tokensAfter: done.tokensAfter,
    guardedFrom: done.guardedFrom,
    continuation: compaction.plan.continuation ? continuationNote(snapshot, compaction) : null,
    notes: async (open) => notesAfter(open, { turn, compaction, snapshot, done }),
    memory: keepsMemory ? { ...scope, id: compactionId, sourceId: compactionId } : null,
  });
  if (committed.kind === 'committed') await logSummary(dependencies, turn, compaction);
  if (committed.kind === 'replanned') return { kind: 'planned', planned: describePlan(committed.next) };
  if (committed.kind === 'abandoned') return { kind: 'exhausted' };
  const { headEntryId, tokensAfter } = committed;
  const { tokensBefore } = compaction;
  const tokensSaved = tokensBefore - tokensAfter;
  dependencies.logger.info({ compactionId, tokensBefore, tokensAfter, tokensSaved }, 'compaction committed');
  return { kind: 'committed', view: { headEntryId, tokens: tokensAfter } };
}

/**
 * Notes that follow the compaction: memories that fit its summary (R13), and near limits, whose notes it may have removed. A note that does
 * not fit into the view is left out.
 */
async function notesAfter(
  open: Transaction,
  of: {
    readonly turn: TurnReference;
    readonly compaction: CompactionRow;
    readonly snapshot: AgentSnapshot;
    readonly done: FinishedCompaction;
  },
): Promise<readonly NoteRequest[]> {
  const { turn, compaction, snapshot, done } = of;
  const { compactionId, plan } = compaction;
  const memories = await memoriesAfter(open, { turn, snapshot, summary: done.summary?.text ?? '' });
  const key = `memories:${compactionId}`;
  const notes: NoteRequest[] = memories === null ? [] : [{ ...memories, turn, slot: 'memories', key }];
  if (!plan.turnIsOver) notes.push(...(await limitNotes(open, turn)));
  let room = budgetFor(snapshot.policy, snapshot.modelLimits).inputBudget - done.tokensAfter;
  return notes.filter(({ measurements }) => {
    const tokens = estimateTokens(measurements, NO_CALIBRATION);
    if (tokens > room) return false;
    room -= tokens;
    return true;
  });
}

function continuationNote(snapshot: AgentSnapshot, { form }: CompactionRow): NewContent {
  const recall = snapshot.tools.some((tool) => tool.name === RECALL_OPEN);
  return newContent(continuationContent(snapshot.policy, form, { recall }));
}

/** Runs after the commit, and again if a worker died between the two. The log shows whether it has the summary. */
async function logSummary(
  { database, logger, reachCrashPoint }: ActivityDependencies,
  turn: TurnReference,
  { compactionId, plan }: CompactionRow,
): Promise<void> {
  const { snapshot } = await readSnapshot(database, turn.turnId);
  const { memory } = snapshot.policy.summary;
  if (memory === null || plan.coveredThroughSequence === null) return;
  const summary = await readSummaryText(database, compactionId);
  if (summary === null) return;
  const folder = join(snapshot.workspace, memory.dailyLogFolder);
  const logged = await appendDailyLog({ folder, compactionId, text: summary.text, at: summary.finishedAt });
  logger.debug({ compactionId, logged }, 'daily log');
  if (logged) reachCrashPoint('logged');
}

/** What an earlier attempt of this activity, or of its predecessor on another worker, decided. */
async function finishedBefore(
  { database }: ActivityDependencies,
  turn: TurnReference,
  compaction: CompactionRow,
): Promise<CommitCompactionResult | null> {
  if (compaction.status === 'planned') return null;
  if (compaction.nextCompactionId !== null) {
    return { kind: 'planned', planned: describePlan(await getCompaction(database, compaction.nextCompactionId)) };
  }
  if (compaction.status === 'abandoned') return { kind: 'exhausted' };
  const check = await readFit(database, turn);
  if (compaction.status === 'failed') return afterLastForm(compaction, check);
  const tokens = compaction.tokensAfter ?? compaction.tokensBefore;
  return { kind: 'committed', view: { headEntryId: check.headEntryId, tokens } };
}

/** Replaces a failed form by the strongest of the weaker ones that can be planned, or ends the compaction without one. */
async function planWeaker(
  dependencies: ActivityDependencies,
  { turn, compaction, check, source }: CommitState,
  failure: string,
): Promise<CommitCompactionResult> {
  const { database } = dependencies;
  const { compactionId, reason } = compaction;
  const { turnIsOver } = compaction.plan;
  const form = weakerForm(compaction.form);
  const planned = form && (await makePlan(dependencies, turn, { check, source, reason, form, turnIsOver }));
  if (planned?.kind === 'planned') {
    const next = await replanCompaction(database, {
      turn,
      compactionId,
      failure,
      nextCompactionId: newId(),
      plan: planned.plan,
    });
    logStarted(dependencies, next);
    return { kind: 'planned', planned: describePlan(next) };
  }
  const result = afterLastForm(compaction, check);
  const { fixed, calibration, budget } = check;
  const exhausted = result.kind === 'exhausted' ? breakdownWindow({ ...source, fixed, calibration, budget }) : null;
  await endCompaction(database, { turn, compactionId, status: 'failed', failure, exhausted });
  return result;
}

/** No weaker form exists: the view stays as it is, if the model can still be asked. */
function afterLastForm(
  { reason, tokensBefore }: CompactionRow,
  { budget, headEntryId }: CountedFit,
): CommitCompactionResult {
  return mayGoOn(reason, tokensBefore, budget)
    ? { kind: 'kept', view: { headEntryId, tokens: tokensBefore } }
    : { kind: 'exhausted' };
}

/**
 * Adds a summary to the day's log in a folder of the workspace, if the folder exists. The id in the heading shows a repeated try what is
 * written. If the file system refuses, only this copy is missing: the summary itself is stored.
 * @returns whether the log has the summary
 */
async function appendDailyLog(entry: {
  /** Absolute path. */
  readonly folder: string;
  readonly compactionId: string;
  readonly text: string;
  /** ISO time. */
  readonly at: string;
}): Promise<boolean> {
  const { folder, compactionId, text, at } = entry;
  try {
    if (!(await stat(folder)).isDirectory()) return false;
    const path = join(folder, `${at.slice(0, 10)}.md`);
    const written = await readFile(path, 'utf8').catch(() => '');
    if (!written.includes(compactionId))
      await appendFile(path, `\n<!-- summary ${compactionId} ${at} -->\n\n${text}\n`);
    return true;
  } catch {
    // The folder does not exist or is not writable.
    return false;
  }
}
