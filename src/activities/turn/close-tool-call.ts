import type { NewContent } from '../../store/log/entries.ts';
import type { CloseToolCall, OpenToolCall, PartialToolOutput } from '../../store/attempts/tool-calls.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import { resultOfDecision } from '../tool/decisions.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { newText } from '../runtime/new-content.ts';

const ADVICE = 'it may have taken effect wholly, partly or not at all. Check before you repeat it.';

const DURING: Readonly<Record<OpenToolCall['cause'], string>> = {
  stopped: 'The user stopped the turn',
  interrupted: 'The turn was interrupted',
  turn_ended: 'The turn ended',
};

/**
 * Words what the model reads as the result of a call that nobody will finish. It decides by it whether to repeat the call.
 * What a person decided is told as if the call had come to its result, keys masked.
 */
export function closeToolCall({ secrets }: Pick<ActivityDependencies, 'secrets'>): CloseToolCall {
  return (call) => {
    const decided = resultOfDecision(call.decision);
    if (call.decision !== null && decided !== null) return newText(maskText(decided.text, secrets));
    return newText(`${fate(call)} ${advice(call)}${outputKnown(call.partialOutput)}`);
  };
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
  readonly lost: number;
  readonly partialOutput: PartialToolOutput | null;
}

/** What the model reads when Temporal heard no more of a call's worker, and the call is not run again. */
export function unknownOutcome({ claimedAt, lost, partialOutput }: UnknownOutcome): NewContent {
  const died =
    lost === 1
      ? 'the process that ran it died, or was lost sight of, before it could report'
      : `the process that ran it died, ${lost} times in a row; it is not tried again`;
  return newText(
    `Outcome unknown: this call began at ${claimedAt} and ${died}. It${ADVICE.slice(2)}${outputKnown(partialOutput)}`,
  );
}

function outputKnown(partial: PartialToolOutput | null): string {
  return partial === null ? '' : `\n\nUntil ${partial.at} it had written ${partial.bytes} bytes:\n${partial.text}`;
}
