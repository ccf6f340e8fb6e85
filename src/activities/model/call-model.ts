import { budgetFor } from '../../context/policy/budget.ts';
import { calibrate, observationOf } from '../../context/log/estimate.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { measureContent } from '../../context/log/measure.ts';
import type { Calibration, ModelLimits } from '../../context/plan/plan.ts';
import { projectChecked, RENDERER_VERSION, shownStubs } from '../../context/view/project-view.ts';
import { fillByKind } from '../../context/view/view-arrangement.ts';
import type { View } from '../../context/view/view.ts';
import { detectSilentOverflow } from '../../models/errors/silent-overflow.ts';
import { costOf } from '../../models/catalogue/cost.ts';
import { maximumOutputFor } from '../../models/catalogue/maximum-output.ts';
import type { ModelAnswer } from '../../models/model-client.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { updateCalibration } from '../../store/providers/calibrations.ts';
import type { FitCheck } from '../../store/compactions/fit-check.ts';
import { stepOf } from '../../store/attempts/attempts.ts';
import { readAnswer, registerModelCall, storeAnswer } from '../../store/attempts/model-calls.ts';
import type { StoredAnswer } from '../../store/attempts/model-calls.ts';
import { readProjectionSource } from '../../store/log/view.ts';
import { viewFingerprint } from '../../store/log/view-fingerprint.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { SpendingLimits } from '../../turn/spending.ts';
import type { CallModelInput, CallModelResult } from '../../turn/activity-values.ts';
import type { Execution } from '../runtime/activity.ts';
import { completeAnswer, describeFallback, fallBack, isEmpty, prefersFallback } from './call-result.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { readFit } from '../compaction/plan-compaction.ts';
import { openLiveText, showDeltas, traceAnswer } from '../runtime/show-calls.ts';
import { requireProvider, wasNotSent, throughOutage } from '../runtime/failures.ts';
import { waitForProvider } from '../runtime/model-permits.ts';
import type { ModelPermit } from '../runtime/model-permits.ts';
import { MOST_UNREPORTED_TRIES } from '../../turn/limits.ts';
import {
  afterUnsent,
  afterUnstored,
  endUnreportedCall,
  afterFailure,
  emptyAnswer,
  learnMediaLimits,
  silentOverflow,
} from './model-failure.ts';

/** One registered try of a model call. */
export interface ModelTry {
  readonly input: CallModelInput;
  readonly attempt: number;
  readonly snapshot: AgentSnapshot;
  /** Limits of the turn. */
  readonly limits: SpendingLimits;
  /** Tokens of the request by the calibrated estimate. */
  readonly estimatedTokens: number;
  /** Number of models that the turn gave up. */
  readonly givenUp: number;
  /** The snapshot's limits, or smaller ones that an error named since. */
  readonly modelLimits: ModelLimits;
  /** By `performance.now()`, because the wall clock may jump. */
  readonly startedAt: number;
}

/**
 * Asks the model with exactly the view at the head that compactContext counted. Returns a stored answer instead of buying it again. An
 * overflow is a value, because repairing it is the turn's work.
 */
export async function callModel(
  dependencies: ActivityDependencies,
  input: CallModelInput,
  execution: Execution,
): Promise<CallModelResult> {
  const { database } = dependencies;
  const [bought, check] = await Promise.all([readAnswer(database, input), readFit(database, input.turn)]);
  const { snapshot, givenUp } = check;
  const { provider } = parseModelName(snapshot.model);
  const queued = { callKey: `${input.turn.turnId}:${input.callNumber}`, by: execution };
  if (bought !== null) {
    // The attempt that stored it may have died with the permit that its next step needs.
    await dependencies.modelPermits.giveUp(queued);
    return completeAnswer(dependencies, input, { snapshot, limits: check.limits }, bought);
  }
  // An attempt whose result was lost gave the model up. The window of the next model is not checked yet.
  if (givenUp.at(-1)?.callNumber === input.callNumber) return describeFallback(snapshot);
  requireProvider(dependencies, provider);
  const { tokens: estimatedTokens } = check;
  const { conversationId } = input.turn;
  const call = { ...queued, provider, conversationId, tokens: estimatedTokens };
  const permit = await dependencies.modelPermits.acquire(call);
  if (permit.kind === 'wait') {
    const { delayMilliseconds } = permit;
    const of = { snapshot, givenUp: givenUp.length, delayMilliseconds };
    if (!(await prefersFallback(dependencies, input.turn, of))) {
      throw await waitForProvider(dependencies, input.turn, { ...permit, provider });
    }
    await dependencies.modelPermits.giveUp(queued);
    return fallBack(dependencies, input, { ...of, attempt: null, by: execution });
  }
  try {
    // After the permit: a view may be megabytes, and a waiting call would read it in vain at each attempt.
    const source = await readProjectionSource(database, { ...input, known: check });
    const view = projectChecked(source.input);
    return await buy(dependencies, input, { source, view, check, estimatedTokens, execution, permit });
  } finally {
    await permit.release();
  }
}

/** Registers a try and asks the model. */
async function buy(
  dependencies: ActivityDependencies,
  input: CallModelInput,
  call: {
    readonly source: Awaited<ReturnType<typeof readProjectionSource>>;
    readonly view: View;
    readonly check: FitCheck;
    readonly estimatedTokens: number;
    readonly execution: Execution;
    readonly permit: ModelPermit;
  },
): Promise<CallModelResult> {
  const { database } = dependencies;
  const { source, view, check, estimatedTokens, execution, permit } = call;
  const { snapshot } = source;
  const registered = await registerModelCall(database, {
    turn: input.turn,
    callNumber: input.callNumber,
    by: execution,
    model: snapshot.model,
    headEntryId: input.headEntryId,
    compactionId: source.compactionId,
    viewFingerprint: await viewFingerprint(view),
    rendererVersion: RENDERER_VERSION,
    estimatedTokens,
    fill: fillByKind({ ...source.input, fixed: check.fixed }, check.calibration),
    inputBudget: budgetFor(snapshot.policy, check.modelLimits).inputBudget,
  });
  if (registered.kind === 'answered') {
    return completeAnswer(dependencies, input, { snapshot, limits: check.limits }, registered.answer);
  }
  if (registered.kind === 'moved') return registered;
  const attempt: ModelTry = {
    input,
    attempt: registered.attempt,
    snapshot,
    limits: check.limits,
    estimatedTokens,
    givenUp: source.givenUp.length,
    modelLimits: check.modelLimits,
    startedAt: performance.now(),
  };
  const result =
    registered.unreported >= MOST_UNREPORTED_TRIES
      ? await endUnreportedCall(dependencies, attempt, execution)
      : await ask(dependencies, attempt, {
          view,
          check,
          execution,
          permit,
          teaches: shownStubs(source.input).size === 0,
        });
  if (result.kind !== 'failed') return result;
  const next = await fallBack(dependencies, input, { ...attempt, by: execution });
  return next.kind === 'failed' ? result : next;
}

interface Asking {
  readonly view: View;
  readonly check: FitCheck;
  readonly execution: Execution;
  readonly permit: ModelPermit;
  /** Whether the reported count of this request can correct the estimate. */
  readonly teaches: boolean;
}

async function ask(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  { view, check, execution, permit, teaches }: Asking,
): Promise<CallModelResult> {
  const { input, attempt, snapshot, estimatedTokens } = modelTry;
  const { turn, callNumber } = input;
  const { provider, model } = parseModelName(snapshot.model);
  const maximumOutput = maximumOutputFor({
    limits: check.modelLimits,
    reserve: budgetFor(snapshot.policy, check.modelLimits).outputReserve,
    viewTokens: estimatedTokens,
  });
  const { conversationId, turnId } = turn;
  const live = openLiveText(dependencies.liveDatabase, { conversationId, turnId, callNumber, attempt });
  const fence = dependencies.fenceWatch.watch({ ...stepOf(input), attempt });
  let answer: ModelAnswer;
  try {
    answer = await dependencies.modelClient(provider).answer(
      {
        model,
        view,
        maximumOutput,
        cacheKey: conversationId,
        size: { estimatedTokens, window: check.modelLimits.window },
        ...definedOf({ options: snapshot.request, media: check.modelLimits.maximumMedia }),
      },
      { signal: AbortSignal.any([execution.signal, fence.signal]), onDelta: showDeltas(live, execution) },
    );
  } catch (error) {
    // The attempt that replaced this one accounts for it.
    fence.signal.throwIfAborted();
    // Awaited here: a rejection while the live text is closed would count as unhandled and end the worker.
    if (wasNotSent(error)) return await afterUnsent(dependencies, modelTry, error, execution);
    return await afterFailure(dependencies, modelTry, error, execution);
  } finally {
    fence.end();
    await live.close();
  }
  dependencies.reachCrashPoint('answered');
  const call = { provider, maximumOutput, check, teaches };
  return dependencies.outlastingWork.finish(execution, async (lasting) => {
    // Before the answer is stored, so that a worker that dies after that leaves no permit behind.
    await permit.release(answer.usage?.input);
    return takeIn(dependencies, modelTry, answer, { ...call, execution: lasting });
  });
}

/** Takes in a paid answer. Like the answer itself, every write before it waits for Postgres. */
async function takeIn(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  answer: ModelAnswer,
  call: Omit<Asking, 'view' | 'permit'> & { readonly provider: string; readonly maximumOutput: number },
): Promise<CallModelResult> {
  const { provider, maximumOutput, check, teaches, execution } = call;
  const { learnedMedia } = answer;
  const written = async <Result>(write: () => Promise<Result>): Promise<Result> =>
    throughOutage(dependencies, execution, write);
  if (learnedMedia !== undefined) await written(() => learnMediaLimits(dependencies, modelTry, learnedMedia));
  const wrong = detectSilentOverflow({
    provider,
    usage: answer.usage,
    stopReason: answer.stopReason,
    window: check.modelLimits.window,
    estimatedInput: modelTry.estimatedTokens,
    isCalibrated: check.calibration.samples >= 3,
    maximumOutput,
  });
  if (wrong !== null) return silentOverflow(dependencies, modelTry, execution, { answer, evidence: wrong.evidence });
  if (isEmpty(answer)) return emptyAnswer(dependencies, modelTry, execution, answer);
  return keep(dependencies, modelTry, answer, { lesson: teaches ? check : null, execution });
}

async function keep(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  answer: ModelAnswer,
  { lesson, execution }: { readonly lesson: FitCheck | null; readonly execution: Execution },
): Promise<CallModelResult> {
  const { database } = dependencies;
  const { input, attempt, snapshot, startedAt } = modelTry;
  const answerToStore = {
    turn: input.turn,
    callNumber: input.callNumber,
    attempt,
    headEntryId: input.headEntryId,
    content: answer.content,
    measurements: measureContent(answer.content),
    usage: answer.usage ?? null,
    cost: answer.usage === undefined ? null : costOf(answer.usage, snapshot.prices),
    durationMilliseconds: Math.round(performance.now() - startedAt),
    stopReason: answer.stopReason,
    responseId: answer.responseId ?? null,
  };
  let stored: StoredAnswer;
  try {
    stored = await throughOutage(dependencies, execution, () => storeAnswer(database, answerToStore));
  } catch (error) {
    return afterUnstored(dependencies, modelTry, { ...answerToStore, error, execution });
  }
  traceAnswer(answer);
  // If a worker dies before this, nothing is learned, and the next call teaches as much. No count may be learned twice.
  if (answer.usage !== undefined && lesson !== null) {
    const observation = observationOf(lesson, answer.usage.input);
    const { model, modelLimits: limits } = snapshot;
    const learn = (current: Calibration): Calibration => calibrate(current, observation);
    await updateCalibration(database, { ...input.turn, model, limits }, learn, lesson.learned);
  }
  return completeAnswer(dependencies, input, modelTry, stored);
}
