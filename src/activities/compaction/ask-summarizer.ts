import { definedOf } from '../../context/policy/defined-of.ts';
import type { MediaLimits } from '../../context/plan/plan.ts';
import type { View } from '../../context/view/view.ts';
import { costOf } from '../../models/catalogue/cost.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { ModelCallError } from '../../models/model-client.ts';
import type { ErrorVerdict, ModelAnswer } from '../../models/model-client.ts';
import { recordFailedTry } from '../../store/attempts/attempts.ts';
import type { AttemptEnd, PaidCall } from '../../store/attempts/attempts.ts';
import type { AgentSnapshot, RequestOptions } from '../../turn/agent-snapshot.ts';
import { MOST_UNREPORTED_TRIES } from '../../turn/limits.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { wasNotSent, throughOutage } from '../runtime/failures.ts';
import { recordRefusal, waitForProvider } from '../runtime/model-permits.ts';
import type { ModelPermit } from '../runtime/model-permits.ts';

/** A registered try of a summary. */
export interface SummaryTry {
  readonly call: PaidCall;
  readonly attempt: number;
  /** Earlier tries without a report. */
  readonly unreported: number;
  readonly summarizer: AgentSnapshot['summarizer'];
  /** Estimated input tokens. */
  readonly tokens: number;
  readonly execution: Execution;
  readonly permit: ModelPermit;
  /** An unreachable provider counts as a failure, instead of a wait without end. */
  readonly countsOutages: boolean;
  readonly request: {
    readonly view: View;
    readonly maximumOutput: number;
    readonly options?: RequestOptions;
    readonly media?: MediaLimits;
  };
}

export type AskedSummary =
  | { readonly kind: 'answered'; readonly answer: ModelAnswer; readonly end: AttemptEnd }
  /** The model failed. `isFinal`: another try would have the same result. */
  | { readonly kind: 'failed'; readonly evidence: string; readonly isFinal: boolean; readonly end: AttemptEnd };

/** @throws what `waitForProvider` returns after a refusal that uses up no retry, and the reason of a cancellation */
export async function askSummarizer(dependencies: ActivityDependencies, of: SummaryTry): Promise<AskedSummary> {
  const { call, attempt, unreported, summarizer, tokens, execution, permit, request } = of;
  const { view, maximumOutput, options, media } = request;
  const started = performance.now();
  const unpaid = (evidence: string, isFinal: boolean): AskedSummary => {
    const durationMilliseconds = Math.round(performance.now() - started);
    return { kind: 'failed', evidence, isFinal, end: { attempt, usage: null, cost: 0, durationMilliseconds } };
  };
  // Each of these tries may have been billed.
  if (unreported >= MOST_UNREPORTED_TRIES) return unpaid('tries_without_report', true);
  const { provider, model } = parseModelName(summarizer.model);
  const size = { estimatedTokens: tokens, window: summarizer.limits.window };
  const fence = dependencies.fenceWatch.watch({ ...call, attempt });
  let answer: ModelAnswer;
  try {
    answer = await dependencies
      .modelClient(provider)
      .answer(
        { model, view, maximumOutput, cacheKey: call.turn.conversationId, size, ...definedOf({ options, media }) },
        { signal: AbortSignal.any([execution.signal, fence.signal]), onDelta: () => undefined },
      );
  } catch (error) {
    fence.signal.throwIfAborted();
    if (wasNotSent(error)) return unpaid('not_sent', false);
    if (!(error instanceof ModelCallError)) throw error;
    const { verdict, status } = error;
    if (verdict.kind !== 'retryable') return unpaid(verdict.kind, true);
    // An error of the provider's own is a failure of the model. An unreachable provider is not.
    const isFailure = of.countsOutages ? verdict.cause !== 'rate_limit' : isErrorOfServer(error);
    if (isFailure) return unpaid(status === undefined ? verdict.evidence : `status_${status}`, false);
    // Awaited here: a rejection during the next steps would count as unhandled and end the worker.
    return await waitAfter(dependencies, of, verdict);
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

/** @throws the failure after which Temporal calls the activity again */
async function waitAfter(
  dependencies: ActivityDependencies,
  { call, attempt, summarizer, execution }: SummaryTry,
  verdict: ErrorVerdict,
): Promise<never> {
  const wait = await recordRefusal(dependencies, { verdict, model: summarizer.model }, (failure, beside) =>
    throughOutage(dependencies, execution, () =>
      recordFailedTry(dependencies.database, call, { attempt, failure }, beside),
    ),
  );
  throw await waitForProvider(dependencies, call.turn, wait);
}
