import { attachedFile, attachedText } from '../../context/log/attached-text.ts';
import { isReadAsText, type ContentPart, type FilePart } from '../../context/log/content.ts';
import { HoldfastClientError } from '../errors.ts';
import type { MessageContent } from '../arguments.ts';

/**
 * A message's content as it is stored. Files of text become text: as such they can be searched, summarized and
 * shortened like all that was said, and every model reads them.
 * @throws HoldfastClientError `invalid_argument` for a message without content, and for a file that no model reads
 */
export function messageParts(content: MessageContent): readonly ContentPart[] {
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const empty = parts.every((part) => part.type === 'text' && part.text.trim() === '');
  if (empty)
    throw new HoldfastClientError('invalid_argument', 'the message is empty: give it a text, an image or a file');
  return parts.map((part) => (part.type === 'file' ? readableFile(part) : part));
}

/**
 * A message in other words: pictures and files stay, those of text too, which `messageParts` made texts.
 * @throws HoldfastClientError `invalid_argument` for no words
 */
export function inOtherWords(said: readonly ContentPart[], text: string): readonly ContentPart[] {
  return [...messageParts(text), ...said.filter((part) => part.type !== 'text' || attachedFile(part) !== null)];
}

function readableFile(file: FilePart): ContentPart {
  if (file.mediaType === 'application/pdf') return file;
  if (!isReadAsText(file.mediaType))
    throw new HoldfastClientError(
      'invalid_argument',
      `the file ${file.name} is of type ${file.mediaType}: models read application/pdf and text; convert it, or put it into the workspace`,
    );
  return { type: 'text', text: attachedText(file.name, textOfFile(file)) };
}

function textOfFile({ name, mediaType, data }: FilePart): string {
  try {
    const bytes = Buffer.from(data, 'base64');
    if (bytes.includes(0)) throw new TypeError('a zero byte');
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HoldfastClientError(
      'invalid_argument',
      `the file ${name} of type ${mediaType} is no text in UTF-8: give its bytes in base64, or another type`,
    );
  }
}
