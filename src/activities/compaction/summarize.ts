import { checkSummary, partPolicy } from '../../context/summary/check-summary.ts';
import { extractiveSummary } from '../../context/summary/extractive-summary.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { textOf } from '../../context/log/content.ts';
import type { AttemptEnd, RegisteredAttempt } from '../../store/attempts/attempts.ts';
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
import { SUMMARY_RETRIES, retryDelayMilliseconds, MOST_UNREPORTED_TRIES } from '../../turn/limits.ts';
import { isOwnFault, retryableFailure, throughOutage, wasNotSent } from '../runtime/failures.ts';
import type { Execution } from '../runtime/activity.ts';
import { isConversationSpent, reachedLimit } from '../turn/check-limits.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { finishedText, previousText, readOriginalsOf, summaryRequest } from './summary-text.ts';
import type { SummaryTask, AskedRequest } from './summary-text.ts';
import { acquirePermit, recordRefusal, waitForProvider } from '../runtime/model-permits.ts';
import { traceAnswer } from '../runtime/show-calls.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { costOf } from '../../models/catalogue/cost.ts';
import { ModelCallError } from '../../models/model-client.ts';
import type { ModelAnswer } from '../../models/model-client.ts';
import { recordFailedTry } from '../../store/attempts/attempts.ts';
import type { ModelPermit } from '../runtime/model-permits.ts';

/**
 * Summarizes one part of a plan from the originals and stores a text that passed its checks. Only failures of the model count toward the
 * five retries, not a worker's death or a rate limit.
 */
export async function summarize(
  dependencies: ActivityDependencies,
  input: SummarizeInput,
  execution: Execution,
): Promise<SummarizeResult> {
  const source = await readPart(dependencies.database, input);
  const { state, part } = source.row;
  const isOfBranch = part.kind === 'branch';
  // An attempt whose result was lost stored it, or was refused for good.
  if (state === 'written') return { kind: 'summarized' };
  if (state === 'failed' && !isOfBranch) return { kind: 'failed' };
  const { snapshot } = await readSnapshot(dependencies.database, input.turn.turnId);
  const reading = { input, source, snapshot, execution };
  const isExtracted = isOfBranch
    ? state === 'failed' || (await isConversationSpent(dependencies, input.turn))
    : source.compaction.form === 'extractive_summary' && part.kind !== 'flush';
  if (isExtracted) return extract(dependencies, await readTask(dependencies, reading));
  const reason = isOfBranch ? null : await reachedLimit(dependencies, input.turn);
  return reason === null ? registerAndAsk(dependencies, reading) : { kind: 'limit', reason };
}

type Reading = Pick<SummaryTask, 'input' | 'source' | 'snapshot' | 'execution'>;

async function readTask(dependencies: ActivityDependencies, reading: Reading): Promise<SummaryTask> {
  const policy = partPolicy(reading.snapshot.policy, reading.source.row.part);
  return { ...reading, policy, ...(await readOriginalsOf(dependencies, reading)) };
}

/**
 * Writes the part without a model.
 * @param call cost of a model that was asked before without success
 */
async function extract(
  dependencies: ActivityDependencies,
  task: SummaryTask,
  call: AttemptEnd | null = null,
): Promise<SummarizeResult> {
  const { source, policy } = task;
  const entries = [...task.request, ...task.entries];
  const previousSummary = previousText(source);
  const text = extractiveSummary({ policy, entries, previousSummary, maximumTokens: source.row.part.maximumOutput });
  await store(dependencies, task, { text, promptVersion: 'extractive', call, redacted: task.leftOut });
  return { kind: 'summarized' };
}

/** The checked text, with the number of secrets removed from the request and the text. */
type WrittenPart = Omit<PartText, 'memory' | 'redacted'> & Required<Pick<PartText, 'redacted'>>;

/** Postgres also supplies what completes the text, and an outage there must not lose a paid answer. */
async function store(dependencies: ActivityDependencies, task: SummaryTask, part: WrittenPart): Promise<void> {
  const { input, execution } = task;
  const complete = async (): Promise<void> => {
    const { text, count } = await finishedText(dependencies, task, part.text);
    const redacted = part.redacted + count;
    const memory = await memoryOf(dependencies, task);
    await storePartText(dependencies.database, { ...input, ...part, text, memory, redacted });
  };
  await dependencies.outlastingWork.finish(execution, (lasting) => throughOutage(dependencies, lasting, complete));
}

/** A flush becomes a memory as soon as it is written. */
async function memoryOf(
  { database }: ActivityDependencies,
  { source, snapshot, input }: SummaryTask,
): Promise<NewPartMemory | null> {
  if (source.row.part.kind !== 'flush') return null;
  const scope = await readFlushScope(database, input.turn.conversationId, snapshot.workspace);
  return { ...scope, id: newId(), sourceId: input.compactionId };
}

/**
 * Registers after the wait for the provider, so that a worker that dies in the wait counts nothing as billed. Reads the originals after
 * it too, or a waiting part would read them in vain at each attempt.
 */
async function registerAndAsk(dependencies: ActivityDependencies, reading: Reading): Promise<SummarizeResult> {
  const { input, source, snapshot, execution } = reading;
  const permit = await acquirePermit(dependencies, input.turn, {
    provider: parseModelName(snapshot.summarizer.model).provider,
    callKey: `${input.compactionId}:${input.part}`,
    by: execution,
    tokens: source.row.part.inputTokens,
  });
  try {
    const task = await readTask(dependencies, reading);
    const asked = await summaryRequest(dependencies, task);
    const registered = await registerPartAttempt(dependencies.database, input, {
      by: execution,
      model: snapshot.summarizer.model,
      estimatedTokens: source.row.part.inputTokens,
    });
    if (registered === 'written') return { kind: 'summarized' };
    const result = await ask(dependencies, task, { ...registered, request: asked, permit });
    if (result.kind === 'answered') return await storeAnswer(dependencies, task, asked, result);
    return await afterModelFailure(dependencies, task, result.evidence, result.end, result.isFinal);
  } finally {
    await permit.release();
  }
}

async function storeAnswer(
  dependencies: ActivityDependencies,
  task: SummaryTask,
  asked: AskedRequest,
  { answer, end }: Extract<AskedSummary, { kind: 'answered' }>,
): Promise<SummarizeResult> {
  const { snapshot, policy } = task;
  const { part } = task.source.row;
  traceAnswer(answer, snapshot.summarizer);
  const checked = checkSummary({
    policy,
    text: textOf(answer.content),
    stopReason: answer.stopReason,
    calledTool: answer.content.some((piece) => piece.type === 'tool_call'),
    maximumOutputTokens: part.maximumOutput,
  });
  if (!checked.ok) return afterModelFailure(dependencies, task, checked.problem, end);
  const { text } = checked;
  const { promptVersion, redacted } = asked;
  try {
    await store(dependencies, task, { text, promptVersion, model: snapshot.summarizer.model, call: end, redacted });
  } catch (error) {
    if (!isOwnFault(error)) throw error;
    return afterModelFailure(dependencies, task, 'not_stored', end);
  }
  return { kind: 'summarized' };
}

async function afterModelFailure(
  dependencies: ActivityDependencies,
  task: SummaryTask,
  failure: string,
  call: AttemptEnd,
  final = false,
): Promise<SummarizeResult> {
  const failed = { ...call, failure: { kind: final ? 'permanent' : 'retryable', evidence: failure } as const };
  // The compaction must not wait for its memory, so the flush is extracted without a model.
  if (task.source.row.part.kind === 'flush') return extract(dependencies, task, failed);
  const { failures } = await throughOutage(dependencies, task.execution, () =>
    recordPartFailure(dependencies.database, { ...task.input, call: failed, final }),
  );
  if (final || failures > SUMMARY_RETRIES) {
    // No weaker form is planned of a branch.
    return task.source.row.part.kind === 'branch' ? extract(dependencies, task) : { kind: 'failed' };
  }
  throw retryableFailure(
    'Summary.refused',
    `summary refused: ${failure}, failure ${failures}`,
    retryDelayMilliseconds(failures),
  );
}

/** A registered try of a summary. */
interface SummaryTry extends Pick<RegisteredAttempt, 'attempt' | 'unreported'> {
  readonly request: AskedRequest;
  readonly permit: ModelPermit;
}

type AskedSummary =
  | { readonly kind: 'answered'; readonly answer: ModelAnswer; readonly end: AttemptEnd }
  /** The model failed. `isFinal`: another try would have the same result. */
  | { readonly kind: 'failed'; readonly evidence: string; readonly isFinal: boolean; readonly end: AttemptEnd };

/** @throws what `waitForProvider` returns after a refusal that uses up no retry, and the reason of a cancellation */
async function ask(
  dependencies: ActivityDependencies,
  task: SummaryTask,
  { attempt, unreported, request, permit }: SummaryTry,
): Promise<AskedSummary> {
  const { input, source, snapshot, execution } = task;
  const { summarizer } = snapshot;
  const { view, maximumOutput, options, media } = request;
  const started = performance.now();
  const unpaid = (evidence: string, isFinal: boolean): AskedSummary => {
    const durationMilliseconds = Math.round(performance.now() - started);
    return { kind: 'failed', evidence, isFinal, end: { attempt, usage: null, cost: 0, durationMilliseconds } };
  };
  // Each of these tries may have been billed.
  if (unreported >= MOST_UNREPORTED_TRIES) return unpaid('tries_without_report', true);
  const { provider, model } = parseModelName(summarizer.model);
  const size = { estimatedTokens: source.row.part.inputTokens, window: summarizer.limits.window };
  const cacheKey = input.turn.conversationId;
  const fence = dependencies.fenceWatch.watch({ ...partCallOf(input), attempt });
  let answer: ModelAnswer;
  try {
    answer = await dependencies
      .modelClient(provider)
      .answer(
        { model, view, maximumOutput, cacheKey, size, options, ...definedOf({ media }) },
        { signal: AbortSignal.any([execution.signal, fence.signal]), onDelta: () => undefined },
      );
  } catch (error) {
    fence.signal.throwIfAborted();
    if (wasNotSent(error)) return unpaid('not_sent', false);
    if (!(error instanceof ModelCallError)) throw error;
    const { verdict, status } = error;
    if (verdict.kind !== 'retryable') return unpaid(verdict.kind, true);
    // An error of the provider's own is a failure of the model. An unreachable provider is not.
    if (isErrorOfServer(error)) return unpaid(status === undefined ? verdict.evidence : `status_${status}`, false);
    const wait = await recordRefusal(dependencies, { verdict, model: summarizer.model }, (failure, beside) =>
      throughOutage(dependencies, execution, () =>
        recordFailedTry(dependencies.database, partCallOf(input), { attempt, failure }, beside),
      ),
    );
    throw await waitForProvider(dependencies, input.turn, wait);
  } finally {
    fence.end();
  }
  dependencies.reachCrashPoint('answered');
  const durationMilliseconds = Math.round(performance.now() - started);
  await permit.release(answer.usage?.input);
  const cost = answer.usage === undefined ? null : costOf(answer.usage, summarizer.prices);
  return { kind: 'answered', answer, end: { attempt, usage: answer.usage ?? null, cost, durationMilliseconds } };
}

function isErrorOfServer({ verdict, status }: ModelCallError): boolean {
  return verdict.kind === 'retryable' && verdict.cause === 'outage' && status !== 503 && status !== 529;
}
