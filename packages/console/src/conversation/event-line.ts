import type { Tone } from '../text/turn-state.ts';
import type { TimelineEvent } from '../api/types.ts';
import { count, duration } from '../text/numbers.ts';
import { numberOf, textOf } from './event-data.ts';

export interface EventLine {
  readonly text: string;
  readonly tone: Tone;
}

type Describe = (event: TimelineEvent) => string | null;

const words = (event: TimelineEvent, name: string): string => textOf(event, name).replaceAll('_', ' ');
const callOf = (event: TimelineEvent): string =>
  `${numberOf(event, 'callNumber') ?? ''}${numberOf(event, 'callIndex') === null ? '' : `.${numberOf(event, 'callIndex')}`}`;

function failedCall(event: TimelineEvent): string {
  const status = numberOf(event, 'status');
  const call = `Call ${callOf(event)}, try ${numberOf(event, 'attempt')}`;
  switch (textOf(event, 'kind')) {
    case 'lost':
      return `${call}: its worker was lost.`;
    case 'superseded':
      return `${call}: a later try answered.`;
    case 'overflow':
      return `${call}: the window overflowed.`;
    default:
      return `${call} failed: ${words(event, 'kind')}${status === null ? '' : ` (${status})`}.`;
  }
}

const LINES: Readonly<Record<string, readonly [Tone, Describe]>> = {
  tool_call_reclaimed: [
    'waiting',
    (event) =>
      `A worker was lost: ${textOf(event, 'workerIdentity')} runs ${textOf(event, 'name')} (${callOf(event)}) again, attempt ${numberOf(event, 'attempt')}.`,
  ],
  model_call_reclaimed: [
    'waiting',
    (event) =>
      `A worker was lost: another one makes call ${callOf(event)} again, attempt ${numberOf(event, 'attempt')}.`,
  ],
  tool_result_late: ['quiet', (event) => `A replaced attempt of call ${callOf(event)} reported late.`],
  model_call_failed: ['bad', failedCall],
  model_fallback: [
    'waiting',
    (event) => `Goes on with ${textOf(event, 'to')} instead of ${textOf(event, 'from')}: ${words(event, 'reason')}.`,
  ],
  model_window_assumed: [
    'waiting',
    (event) =>
      `The window of ${textOf(event, 'model')} is not known: ${count(numberOf(event, 'window') ?? 0)} assumed.`,
  ],
  turn_waiting: [
    'waiting',
    (event) =>
      textOf(event, 'reason') === 'no_worker'
        ? `Waited for a worker that has the ${textOf(event, 'needs')} ${textOf(event, 'name')}.`
        : `Waited for ${textOf(event, 'provider')}: ${words(event, 'reason')}, up to ${duration(numberOf(event, 'delayMilliseconds') ?? 0)}.`,
  ],
  activity_failing: [
    'bad',
    (event) => `${textOf(event, 'activity')} failed ${numberOf(event, 'failures')} times: ${words(event, 'code')}.`,
  ],
  decision_made: [
    'quiet',
    (event) => {
      const scope = { turn: ' for this turn', agent: ' always', standing: ' by a standing decision' }[
        textOf(event, 'scope')
      ];
      const person = textOf(event, 'decidedBy');
      const by = person === '' ? '' : ` by ${person}`;
      return `${textOf(event, 'name')} (${callOf(event)}) was ${words(event, 'decision')}${by}${scope ?? ''}.`;
    },
  ],
  compaction_form_failed: [
    'waiting',
    (event) => `A form of the compaction failed (${words(event, 'failure')}); next: ${words(event, 'nextForm')}.`,
  ],
  compaction_abandoned: ['bad', (event) => `The compaction was abandoned: ${words(event, 'failure')}.`],
  compaction_cancelled: ['waiting', () => 'A hook cancelled the compaction.'],
  compaction_declined: ['quiet', (event) => `Nothing was compacted: ${words(event, 'reason')}.`],
  compaction_exhausted: ['bad', () => 'Nothing that may be compacted makes the context small enough.'],
  secrets_redacted: ['quiet', (event) => `${numberOf(event, 'count')} secrets were replaced for the summary.`],
  branch_changed: ['quiet', (event) => `Goes on with branch ${numberOf(event, 'branch')} (${words(event, 'kind')}).`],
  branch_refused: ['bad', (event) => `A change of branch was refused: ${words(event, 'reason')}.`],
  turn_ended: [
    'quiet',
    (event) => {
      const outcome = words(event, 'outcome');
      return outcome === 'completed' ? null : `The turn ended: ${outcome}.`;
    },
  ],
};

/** Events that the timeline shows beside the entries. */
export const SHOWN_EVENTS = Object.keys(LINES);

/** One line of the timeline; `null`: nothing that a reader looks for. */
export function eventLine(event: TimelineEvent): EventLine | null {
  const [tone, describe] = LINES[event.kind] ?? [];
  const text = describe?.(event) ?? null;
  return text === null || tone === undefined ? null : { text, tone };
}
