import type { NewContent } from '../store/entries.ts';
import type { OpenToolCall } from '../store/tool-calls.ts';
import { newText } from './new-content.ts';

/** What the model reads as the result of a call that nobody will finish. It decides by it whether to repeat the call. */
export function closeToolCall(call: OpenToolCall): NewContent {
  return newText(`${fate(call)} ${advice(call)}`);
}

function fate(call: OpenToolCall): string {
  if (call.state === 'requested') {
    return call.cause === 'stopped'
      ? 'The user stopped the turn before this call was made: it did not run.'
      : 'The turn ended before this call was made: it did not run.';
  }
  const since = call.claimedAt === null ? '' : ` that began at ${call.claimedAt}`;
  return call.cause === 'stopped'
    ? `The user stopped the turn during this call${since}.`
    : `The turn was interrupted during this call${since}.`;
}

function advice(call: OpenToolCall): string {
  return call.state === 'requested'
    ? 'Call it again if it is still needed.'
    : 'Outcome unknown: it may have taken effect wholly, partly or not at all. Check before you repeat it.';
}
