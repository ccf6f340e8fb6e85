import type { StopReason } from '../model-client.ts';

/** Names that vendors and compatible servers give to the end of an answer; servers mix those of several protocols. */
const NAMES: ReadonlyMap<string, StopReason> = new Map(
  (
    [
      ['end', 'end end_turn stop stop_sequence eos'],
      ['tool_calls', 'tool_calls tool_use function_call'],
      ['maximum_output', 'maximum_output max_tokens max_output_tokens length'],
      ['window_full', 'window_full model_context_window_exceeded model_length'],
      ['refusal', 'refusal'],
      ['paused', 'paused pause_turn'],
      ['content_filter', 'content_filter'],
    ] as const
  ).flatMap(([reason, names]) => names.split(' ').map((name) => [name, reason] as const)),
);

/** What a vendor's name for the end of an answer means, in any case of letters; `other` for a name that nobody knows. */
export function stopReasonNamed(name: string): StopReason {
  return NAMES.get(name.toLowerCase()) ?? 'other';
}
