import type { TimelineEvent } from '../../../client/types.ts';
import { formatCount } from '../text/numbers.ts';
import type { TurnItem } from './turn-items.ts';

export type CompactionPlan = TimelineEvent<'compaction_started'>['data'];
export type CommittedCompaction = TimelineEvent<'compaction_committed'>['data'];

export interface RunningCompaction {
  readonly plan: CompactionPlan;
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

type CompactionEvent = TimelineEvent<
  | 'compaction_started'
  | 'compaction_part_written'
  | 'compaction_part_failed'
  | 'compaction_form_failed'
  | 'compaction_committed'
  | 'compaction_exhausted'
  | 'compaction_abandoned'
  | 'compaction_cancelled'
  | 'compaction_hook_skipped'
  | 'compaction_declined'
>;

export function applyCompaction(running: RunningCompaction | null, event: CompactionEvent): AppliedCompaction {
  const unchanged = { compaction: running, tokens: null };
  const given = { compaction: null, tokens: null };
  switch (event.kind) {
    case 'compaction_started': {
      const { data: plan } = event;
      // A weaker form continues the compaction of the failed one.
      const since = running?.since ?? Date.parse(event.createdAt);
      return {
        compaction: { plan, written: 0, since },
        tokens: plan.tokensBefore,
        items: [{ kind: 'compaction_begun', plan }],
      };
    }
    case 'compaction_part_written':
      return { ...unchanged, compaction: running && { ...running, written: running.written + 1 }, items: [] };
    case 'compaction_part_failed':
      return { ...unchanged, items: [warn(partFailure(event.data))] };
    case 'compaction_form_failed': {
      const form = formName(running?.plan.form ?? event.data.form ?? null);
      const why = event.data.failure.replaceAll('_', ' ');
      return { ...unchanged, items: [warn(`The ${form} did not succeed (${why}); a weaker form is tried.`)] };
    }
    case 'compaction_committed':
      return { ...given, tokens: event.data.tokensAfter, items: [{ kind: 'compaction_done', done: event.data }] };
    case 'compaction_exhausted':
      return { ...given, items: [warn(exhaustedText(event.data))] };
    case 'compaction_abandoned':
      return { ...given, items: [warn('The compaction was given up.')] };
    case 'compaction_cancelled':
      return { ...unchanged, items: [warn('A hook cancelled the compaction; the view stays as it is.')] };
    case 'compaction_hook_skipped':
      return { ...unchanged, items: [warn('A hook failed three times and was left out of the compaction.')] };
    case 'compaction_declined':
      return { ...unchanged, items: [{ kind: 'notice', level: 'information', text: declined(event.data) }] };
  }
}

function exhaustedText(data: TimelineEvent<'compaction_exhausted'>['data']): string {
  const { recoveries = 1 } = data;
  const attempts = recoveries === 1 ? 'one attempt' : `${recoveries} attempts`;
  const tokens = data.tokens ?? data.total;
  const size = tokens === undefined ? '' : ` of ${formatCount(tokens)} tokens`;
  return data.failure === 'second_overflow'
    ? `Context overflow recovery failed after ${attempts}: the provider refused the compacted request too.`
    : `Nothing that may be compacted makes the view${size} small enough.`;
}

function declined({ reason, tokens }: TimelineEvent<'compaction_declined'>['data']): string {
  if (reason === 'stopped') return 'Nothing was compacted: the request was stopped with the turn.';
  const size = tokens === null ? '' : ` of ${formatCount(tokens)} tokens`;
  return reason === 'irreducible'
    ? `Nothing was compacted: nothing in the view${size} may be made smaller.`
    : `Nothing was compacted: no summary that says as much would make the view${size} smaller.`;
}

function partFailure({ part, failure, failures }: TimelineEvent<'compaction_part_failed'>['data']): string {
  const why = failure.replaceAll('_', ' ');
  return `Part ${part} of the summary failed (${why}), failure ${failures}; it is tried again.`;
}

/** A form in words: `shorter_summary` → `shorter summary`. */
export function formName(form: string | null): string {
  return form === null ? 'compaction' : form.replaceAll('_', ' ');
}

const warn = (text: string): TurnItem => ({ kind: 'notice', level: 'warning', text });
