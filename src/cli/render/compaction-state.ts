import { formatCount } from './numbers.ts';
import type { CompactionFacts, ReadEvent } from './read-event.ts';
import type { TurnItem } from './turn-items.ts';

export interface RunningCompaction {
  readonly facts: CompactionFacts;
  /** Parts that are written. */
  readonly written: number;
  /** Milliseconds since 1970. */
  readonly since: number;
}

interface AppliedCompaction {
  readonly compaction: RunningCompaction | null;
  /** Tokens of the view afterwards; `null` when they did not change. */
  readonly tokens: number | null;
  readonly items: readonly TurnItem[];
}

type CompactionEvent = Extract<
  ReadEvent,
  {
    readonly kind:
      | 'compaction_started'
      | 'part_written'
      | 'part_failed'
      | 'form_failed'
      | 'compaction_committed'
      | 'compaction_exhausted'
      | 'compaction_abandoned'
      | 'compaction_cancelled'
      | 'compaction_declined';
  }
>;

export function applyCompaction(running: RunningCompaction | null, event: CompactionEvent): AppliedCompaction {
  const unchanged = { compaction: running, tokens: null };
  switch (event.kind) {
    case 'compaction_started': {
      const { compaction: facts } = event;
      // The weaker form of a pass goes on where the failed one began.
      const since = running?.since ?? event.at;
      const begun: TurnItem = { kind: 'compaction_begun', compaction: facts };
      return { compaction: { facts, written: 0, since }, tokens: facts.tokensBefore, items: [begun] };
    }
    case 'part_written':
      return { ...unchanged, compaction: running && { ...running, written: running.written + 1 }, items: [] };
    case 'part_failed':
      return { ...unchanged, items: [warn(partFailure(event))] };
    case 'form_failed': {
      const why = event.failure === null ? '' : ` (${event.failure.replaceAll('_', ' ')})`;
      const form = formName(running?.facts.form ?? event.compaction.form);
      return { ...unchanged, items: [warn(`The ${form} did not succeed${why}; a weaker form is tried.`)] };
    }
    case 'compaction_committed':
      return committed(running, event);
    case 'compaction_exhausted': {
      const size = event.tokens === null ? '' : ` of ${formatCount(event.tokens)} tokens`;
      return {
        compaction: null,
        tokens: null,
        items: [warn(exhaustedText(event, size))],
      };
    }
    case 'compaction_abandoned':
      return { compaction: null, tokens: null, items: [warn('The compaction was given up.')] };
    case 'compaction_cancelled':
      return { ...unchanged, items: [warn('A hook cancelled the compaction; the view stays as it is.')] };
    case 'compaction_declined':
      return { ...unchanged, items: [{ kind: 'notice', level: 'information', text: declined(event) }] };
  }
}

function exhaustedText(event: CompactionEvent & { readonly kind: 'compaction_exhausted' }, size: string): string {
  const attempts = (event.recoveries ?? 1) === 1 ? 'one attempt' : `${event.recoveries} attempts`;
  return event.failure === 'second_overflow'
    ? `Context overflow recovery failed after ${attempts}: the provider refused the compacted request too.`
    : `Nothing that may be compacted makes the view${size} small enough.`;
}

function committed(
  running: RunningCompaction | null,
  event: CompactionEvent & { readonly kind: 'compaction_committed' },
): AppliedCompaction {
  const known = event.compaction;
  const planned = running?.facts;
  const compaction: CompactionFacts = {
    compactionId: known.compactionId,
    trigger: known.trigger ?? planned?.trigger ?? null,
    form: known.form ?? planned?.form ?? null,
    tokensBefore: known.tokensBefore ?? planned?.tokensBefore ?? null,
    tokensAfter: known.tokensAfter,
    parts: known.parts ?? planned?.parts ?? null,
    operations: known.operations ?? planned?.operations ?? null,
    fromSequence: known.fromSequence ?? planned?.fromSequence ?? null,
    toSequence: known.toSequence ?? planned?.toSequence ?? null,
    durationMilliseconds: known.durationMilliseconds,
    messages: known.messages ?? planned?.messages ?? null,
    targets: known.targets ?? planned?.targets ?? null,
    proactive: known.proactive ?? planned?.proactive ?? null,
  };
  const durationMilliseconds = known.durationMilliseconds ?? (running === null ? null : event.at - running.since);
  return {
    compaction: null,
    tokens: known.tokensAfter,
    items: [{ kind: 'compaction_done', compaction, durationMilliseconds }],
  };
}

function declined({ reason, tokens }: CompactionEvent & { readonly kind: 'compaction_declined' }): string {
  if (reason === 'stopped') return 'Nothing was compacted: the request was stopped with the turn.';
  const size = tokens === null ? '' : ` of ${formatCount(tokens)} tokens`;
  return reason === 'irreducible'
    ? `Nothing was compacted: nothing in the view${size} may be made smaller.`
    : `Nothing was compacted: no summary that says as much would make the view${size} smaller.`;
}

function partFailure(event: CompactionEvent & { readonly kind: 'part_failed' }): string {
  const part = event.part === null ? 'A part' : `Part ${event.part}`;
  const why = event.failure === null ? '' : ` (${event.failure.replaceAll('_', ' ')})`;
  const count = event.failures === null ? '' : `, failure ${event.failures}`;
  return `${part} of the summary failed${why}${count}; it is tried again.`;
}

/** A form in words: `shorter_summary` → `shorter summary`. */
export function formName(form: string | null): string {
  return form === null ? 'compaction' : form.replaceAll('_', ' ');
}

const warn = (text: string): TurnItem => ({ kind: 'notice', level: 'warning', text });
