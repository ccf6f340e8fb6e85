import { textOf } from './content.ts';
import type { ContentPart } from './content.ts';
import { nameText, quoteFile, tagsOf } from './frames.ts';

/** A file of text as a part of a user's message: in a frame, for what a file says its user does not say. */
export function attachedText(name: string, text: string): string {
  const { open, close } = tagsOf('attachedFile', { name });
  return `${open}\n${quoteFile(text)}\n${close}`;
}

interface AttachedFile {
  readonly name: string;
  readonly text: string;
}

const { open: OPEN, close: CLOSE } = tagsOf('attachedFile', { name: '' });
const BEFORE_NAME = OPEN.slice(0, -'">'.length);

/** `null` for a part of a message that is no file of text. A user who types the frame himself is taken at his word. */
export function attachedFile(part: ContentPart): AttachedFile | null {
  if (part.type !== 'text' || !part.text.startsWith(BEFORE_NAME) || !part.text.endsWith(`\n${CLOSE}`)) return null;
  const end = part.text.indexOf('">\n');
  if (end === -1) return null;
  return { name: part.text.slice(BEFORE_NAME.length, end), text: part.text.slice(end + 3, -CLOSE.length - 1) };
}

/** What the user says in a message: of an attached file, its name. */
export function saidText(content: readonly ContentPart[]): string {
  return textOf(
    content.map((part) => {
      const file = attachedFile(part);
      return file === null ? part : { type: 'text', text: `(file ${nameText(file.name)})` };
    }),
  );
}
