import type { Citation, ContentPart, TextPart } from '../../context/log/content.ts';
import { isRecord, numberOf } from './json.ts';

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
