import type { Problem } from '../api/problem.ts';
import type { LiveText, TimelineEvent, Update } from '../api/types.ts';
import { SHOWN_EVENTS } from './event-line.ts';

/** Text that a model is writing, by what it belongs to. */
interface Writing {
  readonly callNumber: number;
  readonly attempt: number;
  readonly kind: LiveText['kind'];
  readonly toolName: string | null;
  readonly text: string;
  /** Offset of what comes next. */
  readonly end: number;
}

/** What a page knows of a conversation beyond its entries. */
export interface Live {
  readonly events: readonly TimelineEvent[];
  readonly writing: Readonly<Record<string, Writing>>;
  /** `null`: connected. */
  readonly lost: Problem | null;
}

/** Events that a page keeps beside those that its timeline shows. */
const KEPT_EVENTS = 2_000;

const SHOWN = new Set(SHOWN_EVENTS);

export const NOTHING_LIVE: Live = { events: [], writing: {}, lost: null };

/** Events after which a call's live text stands in an entry, or counts for nothing. */
const ENDS_WRITING = new Set(['model_call_answered', 'model_call_failed', 'turn_ended']);

export function takeUpdate(live: Live, update: Update): Live {
  switch (update.type) {
    case 'connected':
      return { ...live, lost: null };
    case 'lost':
      return { ...live, lost: update.problem };
    case 'event': {
      if (update.event.sequence <= (live.events.at(-1)?.sequence ?? 0)) return live;
      const known = [...live.events, update.event];
      const events = known.filter(({ kind }, place) => place >= known.length - KEPT_EVENTS || SHOWN.has(kind));
      return { ...live, events, writing: ENDS_WRITING.has(update.event.kind) ? {} : live.writing };
    }
    case 'live_text':
      return { ...live, writing: withText(live.writing, update.text) };
  }
}

function withText(writing: Live['writing'], piece: LiveText): Live['writing'] {
  const { callNumber, attempt, kind, callIndex, toolName, offset } = piece;
  const name = `${callNumber} ${kind} ${callIndex ?? ''}`;
  const known = writing[name];
  if (known !== undefined && known.attempt > attempt) return writing;
  const isSame = known?.attempt === attempt;
  const end = isSame ? known.end : 0;
  if (isSame && offset < end) return writing;
  // A reader that came late misses the beginning; the entry will have it.
  const text = (isSame ? known.text : '') + (offset > end ? '…' : '') + piece.text;
  const others = Object.entries(writing).filter(
    ([, each]) => each.attempt >= attempt && each.callNumber === callNumber,
  );
  return {
    ...Object.fromEntries(others),
    [name]: {
      callNumber,
      attempt,
      kind,
      toolName: toolName ?? known?.toolName ?? null,
      text,
      end: offset + piece.text.length,
    },
  };
}

/** The newest event of `begins`, unless one of `ends` came after it. */
export function openEvent(events: readonly TimelineEvent[], begins: string, ends: readonly string[]) {
  const newest = events.findLast(({ kind }) => kind === begins || ends.includes(kind));
  return newest?.kind === begins ? newest : null;
}
