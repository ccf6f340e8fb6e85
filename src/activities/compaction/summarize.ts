import { checkSummary } from '../../context/summary/check-summary.ts';
import { partPolicy } from '../../context/policy/part-policy.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { extractiveSummary } from '../../context/summary/extractive-summary.ts';
import { costOf } from '../../models/catalogue/cost.ts';
import { ModelCallError } from '../../models/model-client.ts';
import type { ModelAnswer } from '../../models/model-client.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { textOf } from '../../context/log/content.ts';
import { withdrawAttempt } from '../../store/attempts/attempts.ts';
import type { AttemptEnd } from '../../store/attempts/attempts.ts';
import {
  partCallOf,
  readPart,
  recordPartFailure,
  registerPartAttempt,
  storePartText,
} from '../../store/compactions/compaction-parts.ts';
import type { NewPartMemory, PartText } from '../../store/compactions/compaction-parts.ts';
import { newId } from '../../store/database/ids.ts';
import { readFlushScope } from '../../store/memory/memory-users.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import type { SummarizeInput, SummarizeResult } from '../../turn/activity-values.ts';
import { MOST_UNREPORTED_TRIES, SUMMARY_RETRIES, retryDelayMilliseconds } from '../../turn/limits.ts';
import { isOwnFault, retryableFailure, wasNotSent } from '../runtime/failures.ts';
import type { Execution } from '../runtime/activity.ts';
import { reachedLimit } from '../turn/check-limits.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { finishedText, previousText, readOriginalsOf } from './finished-text.ts';
import type { SummaryWork } from './finished-text.ts';
import {
  acquirePermit,
  pauseAfterRefusal,
  uncountedFailure,
  waitAfterRefusal,
  waitForProvider,
} from '../runtime/model-permits.ts';
import type { ModelPermit } from '../runtime/model-permits.ts';
import { secretsLeftOut } from './redaction.ts';
import { summaryRequest } from './summary-request.ts';
import type { AskedRequest } from './summary-request.ts';
import { throughOutage } from '../runtime/outlasting-work.ts';

/**
 * Summarizes one part of a plan from the originals and stores a text that passed its checks. Only
 * failures of the model count toward the five retries; a worker's death or a rate limit does not.
 */
export async function summarize(
  dependencies: ActivityDependencies,
  input: SummarizeInput,
  execution: Execution,
): Promise<SummarizeResult> {
  const source = await readPart(dependencies.database, input);
  // An attempt whose result was lost stored it.
  if (source.row.state === 'written') return { kind: 'summarized', tokens: 0 };
  const { snapshot } = await readSnapshot(dependencies.database, input.turn.turnId);
  const reading = { input, source, snapshot, execution };
  if (source.compaction.form !== 'extractive_summary' || source.row.part.kind === 'flush') {
    const reason = await reachedLimit(dependencies, input.turn);
    return reason === null ? registerAndAsk(dependencies, reading) : { kind: 'limit', reason };
  }
  return extract(dependencies, await readTask(dependencies, reading));
}

type Reading = Pick<SummaryTask, 'input' | 'source' | 'snapshot' | 'execution'>;

async function readTask(dependencies: ActivityDependencies, reading: Reading): Promise<SummaryTask> {
  const policy = partPolicy(reading.snapshot.policy, reading.source.row.part);
  return { ...reading, policy, ...(await readOriginalsOf(dependencies, reading)) };
}

/** The numbers of a new try; `null`: the part was written meanwhile. */
async function register(
  { database, reachCrashPoint }: ActivityDependencies,
  { input, source, snapshot, execution }: SummaryTask,
): Promise<Pick<SummaryTry, 'attempt' | 'unreported'> | null> {
  const registered = await registerPartAttempt(database, input, {
    by: execution,
    model: snapshot.summarizer.model,
    estimatedTokens: source.row.part.inputTokens,
  });
  if (registered === 'written') return null;
  reachCrashPoint('summarize:registered');
  return registered;
}

/**
 * Without a model.
 * @param call what a model that was asked before, to no use, had cost
 */
async function extract(
  dependencies: ActivityDependencies,
  task: SummaryTask,
  call: AttemptEnd | null = null,
): Promise<SummarizeResult> {
  const { source, entries, policy } = task;
  const previousSummary = previousText(source);
  const text = extractiveSummary({ policy, entries, previousSummary, maximumTokens: source.row.part.maximumOutput });
  const output = secretsLeftOut(text, { of: task.leftOut, already: previousSummary ?? '' });
  const redacted = { input: 0, output };
  await store(dependencies, task, { text, promptVersion: 'extractive', call, redacted });
  return { kind: 'summarized', tokens: source.row.part.maximumOutput };
}

/** With the text as it was checked, and the secrets that were left out of the request and of the text so far. */
type WrittenPart = Omit<PartText, 'memory' | 'redacted'> & Required<Pick<PartText, 'redacted'>>;

/** What the text is completed with is read from Postgres too: an outage there must not throw a paid answer away either. */
async function store(dependencies: ActivityDependencies, task: SummaryTask, part: WrittenPart): Promise<void> {
  const { input, execution } = task;
  const complete = async (): Promise<void> => {
    const { text, count } = await finishedText(dependencies, task, part.text);
    const redacted = { input: part.redacted.input, output: part.redacted.output + count };
    const memory = await memoryOf(dependencies, task);
    await storePartText(dependencies.database, { ...input, ...part, text, memory, redacted });
  };
  await dependencies.outlastingWork.finish(execution, (lasting) => throughOutage(dependencies, lasting, complete));
  dependencies.reachCrashPoint('summarize:stored');
}

/** A flush is a memory the moment it is written. */
async function memoryOf(
  { database }: ActivityDependencies,
  { source, snapshot, input }: SummaryTask,
): Promise<NewPartMemory | null> {
  if (source.row.part.kind !== 'flush') return null;
  const scope = await readFlushScope(database, input.turn.conversationId, snapshot.workspace);
  return { ...scope, id: newId(), sourceId: input.compactionId };
}

export interface SummaryTask extends SummaryWork {
  readonly input: SummarizeInput;
  readonly execution: Execution;
}

/** A try that is registered. */
interface SummaryTry extends SummaryTask {
  readonly attempt: number;
  /** Tries before it that never told what came of them. */
  readonly unreported: number;
}

/**
 * Registers after the wait for the provider: a worker that dies in it has not asked the model, and nothing is counted as paid.
 * Reads after it too: a part that waits would read its originals for nothing at each attempt.
 */
async function registerAndAsk(dependencies: ActivityDependencies, reading: Reading): Promise<SummarizeResult> {
  const { input, source, snapshot, execution } = reading;
  const permit = await acquirePermit(dependencies, input.turn, {
    activity: 'summarize',
    provider: parseModelName(snapshot.summarizer.model).provider,
    callKey: `${input.compactionId}:${input.part}`,
    by: execution,
    tokens: source.row.part.inputTokens,
  });
  try {
    const task = await readTask(dependencies, reading);
    const asked = await summaryRequest(dependencies, task);
    const registered = await register(dependencies, task);
    if (registered === null) return { kind: 'summarized', tokens: 0 };
    const summaryTry = { ...task, ...registered };
    // Each of them may have been paid: the next weaker form takes over.
    if (registered.unreported >= MOST_UNREPORTED_TRIES)
      return await afterModelFailure(dependencies, summaryTry, 'tries_without_report', unpaid(summaryTry, 0), true);
    return await askForSummary(dependencies, summaryTry, { asked, permit });
  } finally {
    await permit.release();
  }
}

async function askForSummary(
  dependencies: ActivityDependencies,
  task: SummaryTry,
  { asked, permit }: { readonly asked: AskedRequest; readonly permit: ModelPermit },
): Promise<SummarizeResult> {
  const { input, attempt, snapshot, policy, execution } = task;
  const { part } = task.source.row;
  const { provider, model } = parseModelName(snapshot.summarizer.model);
  const { view, maximumOutput, options, media } = asked;
  const size = { estimatedTokens: part.inputTokens, window: snapshot.summarizer.limits.window };
  const started = performance.now();
  const fence = dependencies.fenceWatch.watch({ kind: 'summary', ...input, attempt });
  let answer: ModelAnswer;
  try {
    answer = await dependencies
      .modelClient(provider)
      .answer(
        { model, view, maximumOutput, options, cacheKey: input.turn.conversationId, size, ...definedOf({ media }) },
        { signal: AbortSignal.any([execution.signal, fence.signal]), onDelta: () => undefined },
      );
  } catch (error) {
    fence.signal.throwIfAborted();
    // Awaited here: rejected during what follows, it would count as unhandled and end the worker.
    return await afterModelError(dependencies, task, error, started);
  } finally {
    fence.end();
  }
  dependencies.reachCrashPoint('summarize:answered');
  await permit.release(answer.usage?.input);
  const call = callOf(task, answer, Math.round(performance.now() - started));
  const checked = checkSummary({
    policy,
    kind: part.kind,
    text: textOf(answer.content),
    stopReason: answer.stopReason,
    calledTool: answer.content.some((piece) => piece.type === 'tool_call'),
    maximumOutputTokens: part.maximumOutput,
  });
  if (!checked.ok) return afterModelFailure(dependencies, task, checked.problem, call);
  const { text } = checked;
  const { promptVersion } = asked;
  const redacted = { input: asked.redacted, output: 0 };
  try {
    await store(dependencies, task, {
      text,
      promptVersion,
      model: snapshot.summarizer.model,
      call,
      redacted,
    });
  } catch (error) {
    if (!isOwnFault(error)) throw error;
    return afterModelFailure(dependencies, task, 'not_stored', call);
  }
  return { kind: 'summarized', tokens: answer.usage?.output ?? 0 };
}

function callOf({ snapshot, attempt }: SummaryTry, answer: ModelAnswer, durationMilliseconds: number): AttemptEnd {
  return {
    attempt,
    usage: answer.usage ?? null,
    cost: answer.usage === undefined ? null : costOf(answer.usage, snapshot.summarizer.prices),
    durationMilliseconds,
  };
}

function unpaid({ attempt }: SummaryTry, durationMilliseconds: number): AttemptEnd {
  return { attempt, usage: null, cost: 0, durationMilliseconds };
}

/** What the provider refused: waited out, retried, or a reason for the next weaker form. */
async function afterModelError(
  dependencies: ActivityDependencies,
  task: SummaryTry,
  error: unknown,
  started: number,
): Promise<SummarizeResult> {
  const call = unpaid(task, Math.round(performance.now() - started));
  if (wasNotSent(error)) return afterModelFailure(dependencies, task, 'not_sent', call);
  if (!(error instanceof ModelCallError)) throw error;
  const { verdict } = error;
  if (verdict.kind !== 'retryable') return afterModelFailure(dependencies, task, verdict.kind, call, true);
  // The provider answered with an error of its own: that is the model failing. Not being reached is not.
  if (verdict.cause === 'outage' && error.status !== 503 && error.status !== 529) {
    return afterModelFailure(dependencies, task, `status_${error.status}`, call);
  }
  const { attempt, execution, input } = task;
  const { model } = task.snapshot.summarizer;
  const pause = pauseAfterRefusal(dependencies, verdict, model);
  const { refusals } = await throughOutage(dependencies, execution, () =>
    withdrawAttempt(
      dependencies.database,
      partCallOf(input),
      { attempt, failure: { kind: uncountedFailure(verdict), evidence: verdict.evidence } },
      (open, tries) => pause(open, tries.refusals),
    ),
  );
  dependencies.reachCrashPoint('summarize:withdrawn');
  const { provider } = parseModelName(model);
  const wait = { ...waitAfterRefusal(verdict, refusals), activity: 'summarize', provider } as const;
  throw await waitForProvider(dependencies, input.turn, wait);
}

async function afterModelFailure(
  dependencies: ActivityDependencies,
  task: SummaryTry,
  failure: string,
  call: AttemptEnd,
  final = false,
): Promise<SummarizeResult> {
  const failed = { ...call, failure: { kind: final ? 'permanent' : 'retryable', evidence: failure } };
  // The pass must not wait for its memory: what can be had without a model is flushed.
  if (task.source.row.part.kind === 'flush') return extract(dependencies, task, failed);
  const { failures } = await throughOutage(dependencies, task.execution, () =>
    recordPartFailure(dependencies.database, { ...task.input, call: failed, final }),
  );
  dependencies.reachCrashPoint('summarize:failed');
  if (final || failures > SUMMARY_RETRIES) return { kind: 'failed', failures };
  throw retryableFailure(
    'Summary.refused',
    `summary refused: ${failure}, failure ${failures}`,
    retryDelayMilliseconds(failures),
  );
}
