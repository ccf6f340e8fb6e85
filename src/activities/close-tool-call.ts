import type { NewContent } from '../store/entries.ts';
import type { OpenToolCall, PartialToolOutput } from '../store/tool-calls.ts';
import { newText } from './new-content.ts';

const ADVICE = 'it may have taken effect wholly, partly or not at all. Check before you repeat it.';

const DURING: Readonly<Record<OpenToolCall['cause'], string>> = {
  stopped: 'The user stopped the turn',
  interrupted: 'The turn was interrupted',
  turn_ended: 'The turn ended',
};

const REFUSED: Readonly<Record<NonNullable<OpenToolCall['refused']>, string>> = {
  denied: 'The user denied this call: it did not run. Do not try the same by another way.',
  expired: 'Nobody allowed this call in time, which counts as a denial: it did not run.',
};

/** What the model reads as the result of a call that nobody will finish. It decides by it whether to repeat the call. */
export function closeToolCall(call: OpenToolCall): NewContent {
  if (call.refused !== null) return newText(REFUSED[call.refused]);
  return newText(`${fate(call)} ${advice(call)}${outputKnown(call.partialOutput)}`);
}

function fate(call: OpenToolCall): string {
  if (call.state === 'requested') {
    return call.cause === 'stopped'
      ? 'The user stopped the turn before this call was made: it did not run.'
      : 'The turn ended before this call was made: it did not run.';
  }
  const since = call.claimedAt === null ? '' : ` that began at ${call.claimedAt}`;
  return `${DURING[call.cause]} during this call${since}.`;
}

function advice(call: OpenToolCall): string {
  return call.state === 'requested' ? 'Call it again if it is still needed.' : `Outcome unknown: ${ADVICE}`;
}

/** What is known of a claimed call that is not run again. */
export interface UnknownOutcome {
  readonly claimedAt: string;
  /** Workers that took the call and died. */
  readonly attempts: number;
  readonly partialOutput: PartialToolOutput | null;
}

/** What the model reads when Temporal heard no more of a call's worker, and the call is not run again. */
export function unknownOutcome({ claimedAt, attempts, partialOutput }: UnknownOutcome): NewContent {
  const died =
    attempts === 1
      ? 'the process that ran it died, or was lost sight of, before it could report'
      : `the process that ran it died, ${attempts} times in a row; it is not tried again`;
  return newText(
    `Outcome unknown: this call began at ${claimedAt} and ${died}. It${ADVICE.slice(2)}${outputKnown(partialOutput)}`,
  );
}

function outputKnown(partial: PartialToolOutput | null): string {
  return partial === null ? '' : `\n\nUntil ${partial.at} it had written ${partial.bytes} bytes:\n${partial.text}`;
}
