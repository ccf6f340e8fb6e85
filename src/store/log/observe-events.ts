/**
 * Committed events as metrics, and as attributes of the span under way. Events hold ids, names, counts and flags, so no text of a
 * conversation reaches a collector. Without an SDK of OpenTelemetry in the process, this does nothing.
 */
import { metrics, trace } from '@opentelemetry/api';
import type { Attributes, Counter } from '@opentelemetry/api';
import type { ReportedUsage } from '../../models/model-client.ts';
import type { EventDataByKind, EventKind } from './timeline.ts';

type Instruments = ReturnType<typeof makeInstruments>;

let instruments: Instruments | null = null;

/** Made at the first event: the API's meters do nothing when they were made before the SDK. */
function made(): Instruments {
  return (instruments ??= makeInstruments());
}

function makeInstruments() {
  const meter = metrics.getMeter('holdfast');
  const counter = (name: string, description: string): Counter => meter.createCounter(name, { description });
  return {
    turns: counter('holdfast.turns', 'Turns that ended, by outcome and reason'),
    modelCalls: counter('holdfast.model_calls', 'Tries of model calls of steps, by result'),
    tokens: counter('holdfast.tokens', 'Tokens of model calls, by direction and purpose'),
    toolCalls: counter('holdfast.tool_calls', 'Tool calls that finished, by outcome'),
    compactions: counter('holdfast.compactions', 'Compactions that were committed, by trigger and form'),
    compactionFailures: counter('holdfast.compaction_failures', 'Compactions or forms of them that did not come about'),
    tokensSaved: counter('holdfast.compaction_tokens_saved', 'Tokens by which compactions made views smaller'),
    compactionSeconds: meter.createHistogram('holdfast.compaction_duration_seconds', {
      advice: { explicitBucketBoundaries: [0.1, 0.5, 1, 2, 5, 10, 20, 60, 120, 300] },
      unit: 's',
      description: 'Seconds from the plan of a compaction to its commit',
    }),
    cost: counter('holdfast.cost_dollars', 'Dollars of model calls where the price is known, by purpose'),
    recoveries: counter('holdfast.recoveries', 'Work of a lost worker that another one does again'),
    takeoverSeconds: meter.createHistogram('holdfast.takeover_seconds', {
      advice: { explicitBucketBoundaries: [0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60] },
      unit: 's',
      description: 'Seconds from the first sign of a dead worker until others could go on with its work',
    }),
    providerWaits: counter('holdfast.provider_waits', 'Waits of turns for a provider, by reason'),
    activityFailures: counter('holdfast.activity_failures', 'Activities that failed three times'),
  };
}

/** Counts an event and returns what it says of the span under way. */
type Observer<Kind extends EventKind> = (data: EventDataByKind[Kind], to: Instruments) => Attributes | void;

/** Attributes are those of the semantic conventions for generative AI, where they have a name. */
const OBSERVERS: { readonly [Kind in EventKind]?: Observer<Kind> } = {
  turn_ended({ outcome, reason }, to) {
    to.turns.add(1, { outcome, reason: reason ?? 'none' });
    return { 'holdfast.turn.outcome': outcome };
  },
  turn_waiting(data, to) {
    const provider = data.reason === 'no_worker' ? 'none' : data.provider;
    to.providerWaits.add(1, { reason: data.reason, provider });
  },
  activity_failing({ activity, code }, to) {
    to.activityFailures.add(1, { activity, code });
  },
  model_call_started({ model: named }) {
    const [provider = '', ...model] = named.split('/');
    return { 'gen_ai.provider.name': provider, 'gen_ai.request.model': model.join('/') };
  },
  model_call_answered({ inputTokens, cachedTokens, outputTokens, cost }, to) {
    to.modelCalls.add(1, { result: 'answered' });
    const usage = { input: inputTokens ?? 0, cacheRead: cachedTokens ?? 0, output: outputTokens ?? 0 };
    observePaid('step', { usage, cost });
    return {
      'gen_ai.usage.input_tokens': inputTokens ?? 0,
      'gen_ai.usage.cache_read.input_tokens': cachedTokens ?? 0,
      'gen_ai.usage.output_tokens': outputTokens ?? 0,
    };
  },
  model_call_reclaimed(_, to) {
    to.recoveries.add(1, { work: 'model_call' });
  },
  model_call_failed({ kind }, to) {
    to.modelCalls.add(1, { result: kind });
    return { 'error.type': kind };
  },
  tool_call_reclaimed(_, to) {
    to.recoveries.add(1, { work: 'tool_call' });
  },
  tool_call_finished({ name, outcome }, to) {
    to.toolCalls.add(1, { outcome });
    // The name of a tool that was not run may be the model's invention.
    return { 'holdfast.tool.outcome': outcome, ...(outcome !== 'not_run' && { 'gen_ai.tool.name': name }) };
  },
  compaction_committed({ reason, form, tokensBefore, tokensAfter, durationMilliseconds }, to) {
    to.compactions.add(1, { trigger: reason, form });
    to.tokensSaved.add(Math.max(0, tokensBefore - tokensAfter), { trigger: reason });
    to.compactionSeconds.record(durationMilliseconds / 1_000, { trigger: reason });
    return {
      'gen_ai.conversation.compacted': true,
      'holdfast.compaction.trigger': reason,
      'holdfast.compaction.form': form,
      'holdfast.compaction.tokens_before': tokensBefore,
      'holdfast.compaction.tokens_after': tokensAfter,
    };
  },
  compaction_form_failed(_, to) {
    to.compactionFailures.add(1, { kind: 'form_failed' });
  },
  compaction_exhausted(_, to) {
    to.compactionFailures.add(1, { kind: 'exhausted' });
  },
  compaction_abandoned(_, to) {
    to.compactionFailures.add(1, { kind: 'abandoned' });
  },
};

export function observeEvent<Kind extends EventKind>(kind: Kind, data: EventDataByKind[Kind]): void {
  const observer: Observer<Kind> | undefined = OBSERVERS[kind];
  const attributes = observer?.(data, made());
  if (attributes !== undefined) trace.getActiveSpan()?.setAttributes(attributes);
}

/** @param purpose as in the ledger of attempts */
export function observePaid(
  purpose: string,
  { usage, cost }: { readonly usage: Omit<ReportedUsage, 'cacheWrite'> | null; readonly cost: number | null },
): void {
  const { tokens, cost: dollars } = made();
  tokens.add(usage?.input ?? 0, { direction: 'input', purpose });
  tokens.add(usage?.cacheRead ?? 0, { direction: 'cached_input', purpose });
  tokens.add(usage?.output ?? 0, { direction: 'output', purpose });
  dollars.add(cost ?? 0, { purpose });
}

/** The work of a dead worker goes on. */
export function observeTakeover(seconds: number): void {
  made().takeoverSeconds.record(seconds);
}
