import type { ContentPart } from '../context/content.ts';
import type { View, ViewMessage } from '../context/view.ts';

const LEFT_OUT = 'left out: the provider refused the request with it';

/**
 * The view with its images and files replaced by a line each; `keepNewest` spares the newest message that
 * has some, which the question is most likely about. `undefined` when there is nothing to leave out.
 */
export function leaveOutMedia(view: View, keepNewest: boolean): View | undefined {
  const withMedia = view.messages.flatMap((message, position) => (hasMedia(message) ? [position] : []));
  const spared = keepNewest ? withMedia.at(-1) : undefined;
  if (withMedia.every((position) => position === spared)) return undefined;
  return {
    ...view,
    messages: view.messages.map((message, position) => (position === spared ? message : replaced(message))),
  };
}

function hasMedia(message: ViewMessage): boolean {
  const contents = message.role === 'tool_results' ? message.results.map(({ content }) => content) : [message.content];
  return contents.some((content) => content.some(isMedia));
}

function isMedia(part: ContentPart): boolean {
  return part.type === 'image' || part.type === 'file';
}

function replaced(message: ViewMessage): ViewMessage {
  if (message.role === 'tool_results') {
    return { ...message, results: message.results.map((one) => ({ ...one, content: one.content.map(asLine) })) };
  }
  return { ...message, content: message.content.map(asLine) };
}

function asLine(part: ContentPart): ContentPart {
  if (part.type === 'image') {
    return { type: 'text', text: `[image of ${part.width} × ${part.height} pixels ${LEFT_OUT}]` };
  }
  return part.type === 'file' ? { type: 'text', text: `[file ${part.name} ${LEFT_OUT}]` } : part;
}
