import { VENDOR_BLOCK } from '../../context/log/content.ts';
import type { Citation, ContentPart, TextPart, ThinkingPart } from '../../context/log/content.ts';
import { jsonOf } from '../../context/log/nested-json.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { ModelAnswer, ReportedUsage, StopReason, StreamDelta } from '../model-client.ts';
import { isRecord, numberOf } from './json.ts';

/** Who answers. */
export interface AnswerSource {
  /** Name of the provider. */
  readonly provider: string;
  /** Translates the names of tools back to those declared. */
  readonly declaredName: (vendorName: string) => string;
}

/** Collects the events of one stream, of which every field is checked. Holds no connection, so that tests feed it events. */
export interface AnswerCollector {
  /** `open`: the answer goes on; `whole`: the server said why it ended, counts may follow; `over`: nothing follows. */
  readonly state: 'open' | 'whole' | 'over';
  /**
   * Takes the next event, or the body of an answer that did not stream, and returns what is new for a reader.
   * @throws RefusedInBody when the event is an error.
   */
  take(event: unknown): readonly StreamDelta[];
  finish(): ModelAnswer;
}

/** A call without a name is shown to the model under this one: it asked for a tool, and learns that it was none. */
export const UNNAMED = 'unnamed';

/** What a collector found, without what it did not find. */
export function collected(
  answer: Pick<ModelAnswer, 'content' | 'stopReason'>,
  usage: ReportedUsage | undefined,
  responseId: string | undefined,
): ModelAnswer {
  return { ...answer, ...definedOf({ usage, responseId }) };
}

/** A field that should hold text: what is missing is empty, and a few servers give an object instead of its JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value == null ? '' : jsonOf(value);
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** A block of any other type, as a call of the vendor's own tool and its result: sent back as it came. */
export function vendorBlock(provider: string, block: unknown): ThinkingPart {
  return { type: 'thinking', text: '', provider, signature: VENDOR_BLOCK, encrypted: jsonOf(block) };
}

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

/**
 * A text with what the vendor named as its sources. OpenAI tells which stretch of the text a source is
 * for, Anthropic cites for the whole of a block.
 */
export function citedText(text: string, sources: readonly unknown[]): TextPart {
  const citations = sources.filter(isRecord).map((source): Citation => {
    const from = numberOf(source['start_index']) ?? 0;
    return { from, to: numberOf(source['end_index']) ?? text.length, source };
  });
  return citations.length === 0 ? { type: 'text', text } : { type: 'text', text, citations };
}

/** Anthropic breaks a text at each citation: texts in a row with citations are one text again. */
export function joinCited(content: readonly ContentPart[]): readonly ContentPart[] {
  const joined: ContentPart[] = [];
  for (const part of content) {
    const last = joined.at(-1);
    const isOneText = last?.type === 'text' && part.type === 'text' && (last.citations ?? part.citations) !== undefined;
    if (!isOneText) joined.push(part);
    else joined.splice(-1, 1, joinTexts(last, part));
  }
  return joined;
}

function joinTexts(before: TextPart, after: TextPart): TextPart {
  const moved = (after.citations ?? []).map(({ from, to, source }): Citation => ({
    from: from + before.text.length,
    to: to + before.text.length,
    source,
  }));
  return { type: 'text', text: before.text + after.text, citations: [...(before.citations ?? []), ...moved] };
}
