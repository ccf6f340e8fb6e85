import { REPEATED_FAILURE } from './limits.ts';
import { COUNTED_OF_CONVERSATION, countedOf } from './spending.ts';
import type { ConversationCounts, CountedOfConversation } from './spending.ts';
import type { TurnOutcome } from './turn-reference.ts';

/** What a worker lacks to run an agent, and what to do. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  [
    'provider_key_missing',
    "The worker has no key for the model's provider. Set it where the worker runs (ANTHROPIC_API_KEY, OPENAI_API_KEY or the provider's apiKeyVariable), restart the worker, then send a message to go on.",
  ],
  [
    'provider_address_missing',
    "The worker does not know the address of the model's provider. Set it where the worker runs, restart the worker, then send a message to go on.",
  ],
  [
    'provider_unknown',
    "The worker's holdfast.yaml names no such provider. Add it there, restart the worker, then send a message to go on.",
  ],
  ['model_invalid', 'The name of the model is not valid. Start the task again with provider/model.'],
  [
    'agent_unknown',
    "The worker's configuration has no such agent. Add it to holdfast.yaml or the worker's code, restart the worker, then send a message to go on.",
  ],
  [
    'preset_unknown',
    "The worker's configuration has no such preset. Add it there, restart the worker, then send a message to go on.",
  ],
]);

const NO_MORE_KNOWN = { vendorMessage: null, commandOnly: false, tookMessages: false };

/** One sentence for a person: what happened, and what can be done next. */
export function explainOutcome(
  outcome: TurnOutcome,
  reason: string | null,
  turn: {
    readonly vendorMessage: string | null;
    readonly commandOnly: boolean;
    readonly tookMessages: boolean;
  } = NO_MORE_KNOWN,
): string {
  const { vendorMessage, commandOnly, tookMessages } = turn;
  const refusal = reason === null ? undefined : REFUSALS.get(reason);
  if (refusal !== undefined) return refusal;
  switch (outcome) {
    case 'completed':
      return completed(reason);
    case 'stopped':
      if (commandOnly) return stoppedCommand(reason, tookMessages);
      return "The turn was stopped; everything that had finished is kept. Send a message to go on, or 'holdfast resume' without one.";
    case 'budget_exhausted':
      if (reason === 'calls_repeated')
        return 'The turn went round in circles: the same tool call had the same result again and again. Send a message that says what to do instead, or raise limits.repeatedCalls in holdfast.yaml.';
      if (reason === 'compactions_without_progress')
        return 'The turn went round in circles: the window filled again and again and nothing new was done. What the task needs at once does not fit the window: use a model with a larger one or a smaller task, then send a message.';
      return `${limitWords(reason)} What was done is kept. ${afterLimit(reason)} The limits are in holdfast.yaml.`;
    case 'context_exhausted':
      if (reason === 'media_too_large')
        return 'The provider takes no request with the images and files of your newest message, also with the images scaled down. They are kept: send a message with smaller or fewer ones.';
      return reason === 'second_overflow'
        ? "The provider refused the context as too large, and again after it was compacted for that. Send a message to go on, or use a model with a larger window; 'holdfast context' shows what fills it."
        : "Nothing that may be compacted makes the context fit the window. 'holdfast context' shows what fills it: shorten instructions or tools, or use a model with a larger window, then send a message.";
    case 'model_failed':
      if (reason === 'thinking_filled_output')
        return 'The model thought until its maximum output was full and answered nothing. Raise request.maximumOutput of the agent or lower its thinking (reasoningEffort, thinkingBudget), then send a message to go on.';
      if (vendorMessage !== null && vendorMessage !== '') return refusedByVendor(vendorMessage);
      return "The model's provider refused or failed every try. 'holdfast show' names the error; mend its cause, then send a message to go on.";
    case 'refused':
      return 'The model or its content filter refused to answer. Rephrase the request in a new message.';
    case 'interrupted':
      if (reason === REPEATED_FAILURE)
        return "The same work failed ten times, and not because of an outage: 'holdfast show' names it. Everything stored is kept: mend the cause, or report it, then send a message to go on.";
      return `The turn was interrupted (${reason ?? 'its workflow is gone'}). Everything stored is kept: send a message to go on.`;
  }
}

function limitWords(reason: string | null): string {
  if (reason === 'idle_time_limit')
    return 'Nothing happened in the turn for longer than its limit of idle time (idle_time_limit).';
  if (reason === 'conversation_idle_time_limit')
    return 'The conversation rested for longer than its limit of idle time (conversation_idle_time_limit).';
  const of = reason?.startsWith('conversation_') === true ? "The conversation's" : "The turn's";
  const what = reason?.replace('conversation_', '').replace('_limit', '').replaceAll('_', ' ') ?? 'unknown';
  const counted = /(?:step|call|token)$/u.test(what) ? `${what}s` : what;
  return `${of} limit of ${counted} is reached (${reason ?? 'unknown'}).`;
}

/** A message starts a turn with fresh limits, but not a conversation, so the next turn would end at once. */
function afterLimit(reason: string | null): string {
  if (reason === 'conversation_idle_time_limit')
    return "Go on with 'holdfast resume', which lets this rest pass ('--idle-time +86400' raises the limit too, for all later turns); after a message alone the next turn ends at it at once.";
  const flag = raiseFlag(reason);
  if (flag === null) return "Go on with 'holdfast resume', or send a message.";
  if (reason?.startsWith('conversation_') !== true)
    return `Go on with 'holdfast resume' and a raise, such as '${flag}', or send a message, which begins a turn with fresh limits.`;
  return `Go on with 'holdfast resume' and a raise, such as '${flag}', which holds for all later turns; after a message alone the next turn ends at it at once.`;
}

/** Longest quote of the vendor's error in the explanation. Characters. */
const LONGEST_QUOTE = 500;

function refusedByVendor(message: string): string {
  const words = message.length <= LONGEST_QUOTE ? message : `${message.slice(0, LONGEST_QUOTE)}…`;
  return `The model's provider refused the request: "${words}". Mend the cause, then send a message to go on.`;
}

function stoppedCommand(reason: string | null, tookMessages: boolean): string {
  const next = tookMessages
    ? "What was sent before the stop stands unanswered: 'holdfast resume' answers it, or a message does with what it says."
    : 'Send a message to go on.';
  switch (reason) {
    case 'branch_changed':
      return `The branch was changed before the stop. ${next}`;
    case 'compacted':
      return `The compaction was made before the stop. ${next}`;
    case 'nothing_to_compact':
      return `${NOTHING_TO_COMPACT} ${next}`;
    case 'conversation_busy':
    case 'branch_unknown':
      return `${completed(reason)} What was sent behind it, before the stop, is not answered.`;
    default:
      return tookMessages
        ? `The command was stopped before it was carried out. ${next}`
        : 'The command was stopped before it was carried out. Send it again, or a message to go on. What was sent behind a fork or a switch, before the stop, is not answered.';
  }
}

/** Answer to a requested compaction that was not made. */
export const NOTHING_TO_COMPACT = 'Nothing was compacted: no summary that says as much would make the view smaller.';

function completed(reason: string | null): string {
  if (reason === 'answer_cut')
    return "The turn completed, but its last answer was cut at the maximum output several times. 'holdfast resume' lets it go on.";
  if (reason === 'call_missing')
    return 'The turn completed, but its last answer announced a tool call that did not come, twice. Send a message to go on.';
  if (reason === 'output_invalid')
    return "The turn completed, but its last answer is not of the form that was asked for, twice. 'holdfast show' shows it; send a message to go on.";
  if (reason === 'nothing_to_compact') return NOTHING_TO_COMPACT;
  if (reason === 'conversation_busy')
    return 'The branch was not changed: a turn had begun meanwhile. Send the command again.';
  if (reason === 'branch_unknown')
    return "The branch was not changed: there is no such branch. 'holdfast branch list' lists them.";
  return 'The turn completed.';
}

/** Flags of `holdfast resume`, with a usual raise of each. */
const RAISES: Readonly<Record<CountedOfConversation, { readonly flag: string; readonly usual: number }>> = {
  steps: { flag: '--steps', usual: 100 },
  toolCalls: { flag: '--tool-calls', usual: 100 },
  inputTokens: { flag: '--input-tokens', usual: 1_000_000 },
  outputTokens: { flag: '--output-tokens', usual: 50_000 },
  cost: { flag: '--cost', usual: 2 },
  wallTime: { flag: '--wall-time', usual: 600 },
  idleTime: { flag: '--idle-time', usual: 86_400 },
};

/** The flag of `holdfast resume` that raises the limit at which a turn ended; `null` if it needs no raise. */
export function raiseFlag(reason: string | null): string | null {
  const counted = countedOf(reason ?? '');
  // A resume waives the idle limit.
  if (counted === null || counted === 'idleTime') return null;
  return raiseFlags({ [counted]: RAISES[counted].usual });
}

/** Flags of `holdfast resume` for these raises, such as `--steps +100 --cost +2`. */
export function raiseFlags(raise: Partial<ConversationCounts>): string {
  return COUNTED_OF_CONVERSATION.flatMap((counted) => {
    const by = raise[counted];
    return by === undefined ? [] : [`${RAISES[counted].flag} +${by}`];
  }).join(' ');
}
