import type { Entry } from '../log/entry.ts';
import { estimateTokens } from '../log/estimate.ts';
import { frame } from '../log/frames.ts';
import { headOf } from '../plan/clip.ts';
import { textOf } from '../log/content.ts';
import { measureText } from '../log/measure.ts';
import type { CompactionForm, CompactionReason, Operation, PlanPart } from '../plan/plan.ts';
import type { CompactionPolicy, Prompt } from '../policy/policy.ts';
import { instructionText, summaryRequestLimit } from './summary-request.ts';
import type { SummaryRequest, SummaryRequestInput } from './summary-request.ts';
import { transcriptText } from './transcript.ts';
import type { View } from '../view/view.ts';

/** Characters of the first message that stays, to find it by. */
const LANDMARK_CHARACTERS = 200;

export interface SharedRequestInput extends Omit<SummaryRequestInput, 'previousSummary' | 'partTexts' | 'shorter'> {
  /** What the last call saw and what came since: the request begins with it, tools included. */
  readonly view: View;
  /** Tokens of that view by the estimate that agrees with the provider's newest count. */
  readonly viewTokens: number;
  /** Entries that the view shows. */
  readonly shown: readonly Entry[];
  /** In force: what the view shows shorter than it is. */
  readonly operations: readonly Operation[];
  /** First entry that stays word for word after the summary. */
  readonly firstKeptSequence: number;
  /** Tokens that the model may use besides the summary, for thinking. */
  readonly thinkingRoom: number;
}

/**
 * Whether a part may be asked behind the last request: one text for all that is dropped. After a failure the transcript is
 * asked, which is plainer to a model that would rather go on with its work; after an overflow the last request was refused.
 */
export function maySharePrefix(of: {
  readonly policy: CompactionPolicy;
  readonly form: CompactionForm;
  readonly reason: CompactionReason;
  readonly parts: readonly PlanPart[];
  readonly part: PlanPart;
  /** Of the model, with this part. */
  readonly failures: number;
}): boolean {
  const { policy, form, reason, parts, part, failures } = of;
  return (
    policy.summary.sharesPrefix !== null &&
    failures === 0 &&
    form === 'summary' &&
    reason !== 'overflow' &&
    part.kind !== 'flush' &&
    parts.filter(({ kind }) => kind !== 'flush').length === 1
  );
}

/**
 * The same request as the last model call's, with the order to summarize behind it: its prefix is in the provider's cache.
 * Originals that the view does not show whole are quoted before the order. `null` when it would not fit the window, or
 * the policy wants a request of its own.
 */
export function sharedSummaryView(input: SharedRequestInput): SummaryRequest | null {
  const { policy, view, viewTokens, part, calibration, thinkingRoom } = input;
  const prompt = policy.summary.sharesPrefix;
  if (prompt === null) return null;
  const room = summaryRequestLimit(input.summarizer, part.maximumOutput + thinkingRoom) - viewTokens;
  const originals = hiddenOriginals(input, Math.max(0, room));
  const text = [originals, orderText(input, prompt)].filter((piece) => piece !== '').join('\n\n');
  if (originals === null || estimateTokens(measureText(text), calibration) > room) return null;
  return {
    view: {
      ...view,
      messages: [...view.messages, { role: 'user', content: [{ type: 'text', text }], origin: 'note' }],
    },
    promptVersion: `${prompt.name}@${prompt.version}`,
  };
}

/** What was clipped or cleared among what the summary is to cover: a summary is made from originals. `null` when they do not fit. */
function hiddenOriginals(
  { entries, operations, calibration, policy }: SharedRequestInput,
  room: number,
): string | null {
  const changed = new Set(operations.filter(({ kind }) => kind !== 'strip').map(({ entryId }) => entryId));
  const hidden = entries.filter(({ id }) => changed.has(id));
  if (hidden.length === 0) return '';
  const tokens = hidden.reduce((sum, { measurements }) => sum + estimateTokens(measurements, calibration), 0);
  if (tokens > room) return null;
  const { transcript: limits } = policy.summary;
  const text = transcriptText({ entries: hidden, maximumTokens: room, calibration, limits });
  return `Some messages above are shown shortened. Their originals:\n${frame('originals', [text])}`;
}

function orderText(input: SharedRequestInput, prompt: Prompt): string {
  const landmark = input.shown.find(({ sequence, kind }) => sequence >= input.firstKeptSequence && kind !== 'note');
  const beginning = landmark === undefined ? '' : headOf(textOf(landmark.content), LANDMARK_CHARACTERS);
  const kept =
    beginning.trim() === ''
      ? 'The newest messages above stay visible after the summary, word for word; they tell you where the work stands.'
      : `The newest messages above, from the one that begins with the words below, stay visible after the summary, word for word; they tell you where the work stands.\n${frame('firstKept', beginning)}`;
  return `${kept}\n\n${instructionText({ ...input, previousSummary: null }, prompt, null)}`;
}
