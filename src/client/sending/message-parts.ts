import { attachedFile, attachedText, isReadAsText, type ContentPart } from '../../context/log/content.ts';
import { countPages, isPdf, measurePicture } from '../../tools/runtime/media.ts';
import { HoldfastClientError } from '../errors.ts';
import type { MessageContent, MessagePart } from '../arguments.ts';

/**
 * A message's content as it is stored. Files of text become text: as such they can be searched, summarized and
 * shortened like all that was said, and every model reads them.
 * @throws HoldfastClientError `invalid_argument` for a message without content, and for an image or a file that no model reads
 */
export function messageParts(content: MessageContent): readonly ContentPart[] {
  const parts: readonly MessagePart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const empty = parts.every((part) => part.type === 'text' && part.text.trim() === '');
  if (empty)
    throw new HoldfastClientError('invalid_argument', 'the message is empty: give it a text, an image or a file');
  return parts.map(readablePart);
}

function readablePart(part: MessagePart, index: number): ContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return readableImage(part.data, index);
    case 'file':
      return readableFile(part);
  }
}

/** Type and size as the bytes say: what a sender says of them decides no estimate. */
function readableImage(data: string, index: number): ContentPart {
  const bytes = Buffer.from(data, 'base64');
  const picture = measurePicture(bytes);
  if (picture === undefined)
    throw new HoldfastClientError(
      'invalid_argument',
      `part ${index} of the message is no image that models read: give the bytes of a PNG, JPEG, GIF or WebP in base64`,
    );
  // Vendors take neither line breaks nor the other alphabet of base64.
  return { type: 'image', ...picture, data: bytes.toString('base64') };
}

/**
 * A message in other words: pictures and files stay, those of text too, which `messageParts` made texts.
 * @throws HoldfastClientError `invalid_argument` for no words
 */
export function inOtherWords(said: readonly ContentPart[], text: string): readonly ContentPart[] {
  return [...messageParts(text), ...said.filter((part) => part.type !== 'text' || attachedFile(part) !== null)];
}

type File = Extract<MessagePart, { type: 'file' }>;

function readableFile(file: File): ContentPart {
  if (file.mediaType === 'application/pdf') {
    const { mediaType, name } = file;
    const bytes = Buffer.from(file.data, 'base64');
    return {
      type: 'file',
      mediaType,
      name,
      data: bytes.toString('base64'),
      pages: isPdf(bytes) ? countPages(bytes) : 1,
    };
  }
  if (!isReadAsText(file.mediaType))
    throw new HoldfastClientError(
      'invalid_argument',
      `the file ${file.name} is of type ${file.mediaType}: models read application/pdf and text; convert it, or put it into the workspace`,
    );
  return { type: 'text', text: attachedText(file.name, textOfFile(file)) };
}

function textOfFile({ name, mediaType, data }: File): string {
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
