import type { ContentPart } from '../../context/log/content.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';

/**
 * A request for a summary without secrets of well-known forms: originals, earlier summaries, focus and lines of hooks stand in
 * texts of its messages (R28).
 */
export async function redactedView(view: View): Promise<{
  readonly view: View;
  /** Secrets that were left out. */
  readonly redacted: number;
}> {
  let redacted = 0;
  const messages: ViewMessage[] = [];
  for (const message of view.messages) {
    if (message.role === 'tool_results') {
      messages.push(message);
      continue;
    }
    const content: ContentPart[] = [];
    for (const part of message.content) {
      const found = part.type === 'text' ? await redactSecrets(part.text) : null;
      redacted += found?.count ?? 0;
      content.push(found === null ? part : { type: 'text', text: found.text });
    }
    messages.push({ ...message, content });
  }
  return { view: { ...view, messages }, redacted };
}
