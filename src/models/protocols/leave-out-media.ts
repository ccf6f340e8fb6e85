import type { ContentPart, FilePart, ImagePart } from '../../context/log/content.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';

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
    messages: view.messages.map((message, position) =>
      position === spared ? message : replaceMedia(message, LEFT_OUT),
    ),
  };
}

function hasMedia(message: ViewMessage): boolean {
  return contentsOf(message).some((content) => content.some(isMedia));
}

/** The contents of a message: one for each result of a group. */
export function contentsOf(message: ViewMessage): readonly (readonly ContentPart[])[] {
  return message.role === 'tool_results' ? message.results.map(({ content }) => content) : [message.content];
}

export function isMedia(part: ContentPart): part is ImagePart | FilePart {
  return part.type === 'image' || part.type === 'file';
}

/** The message with a line for each of its images and files. */
export function replaceMedia(message: ViewMessage, why: string): ViewMessage {
  const asLine = (part: ContentPart): ContentPart =>
    isMedia(part) ? { type: 'text', text: lineFor(part, why) } : part;
  if (message.role === 'tool_results') {
    return { ...message, results: message.results.map((one) => ({ ...one, content: one.content.map(asLine) })) };
  }
  return { ...message, content: message.content.map(asLine) };
}

function lineFor(part: ImagePart | FilePart, why: string): string {
  return part.type === 'image'
    ? `[image of ${part.width} × ${part.height} pixels ${why}]`
    : `[file ${part.name} ${why}]`;
}
