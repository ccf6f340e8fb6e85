import type { ContentPart } from '../log/content.ts';
import { quoteText, tagsOf } from '../log/frames.ts';

/** The result of a call that is not shown, among messages of the user: no provider takes one as a result. */
export function earlierResult(toolName: string, content: readonly ContentPart[]): readonly ContentPart[] {
  const { open, close } = tagsOf('earlierResult', { tool: toolName, call: 'not shown' });
  const quoted = content.map((part) => (part.type === 'text' ? textPart(quoteText(part.text)) : part));
  return [textPart(open), ...quoted, textPart(close)];
}

function textPart(text: string): ContentPart {
  return { type: 'text', text };
}
