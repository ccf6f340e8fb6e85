import { z } from 'zod';
import type { ContentPart } from '../../context/log/content.ts';
import { countPages, isPdf, measurePicture } from '../../tools/runtime/media.ts';
import { RequestError } from '../problem.ts';

const DATA = /^data:(?<mediaType>[^;,]+)(?:;[^;,]+)*;base64,(?<data>.*)$/su;

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text: z.string() }),
  z.object({ type: z.literal('input_image'), image_url: z.string() }),
  z.object({ type: z.literal('input_file'), filename: z.string().default('file'), file_data: z.string() }),
]);

/** A message of the user, the one item that a request may bring. */
const inputMessage = z.object({
  type: z.literal('message').optional(),
  role: z.literal('user'),
  content: z.union([z.string(), z.array(part)]),
});

/** The items as the content of one message; `null`: there are none. @throws RequestError `invalid_argument` for what is no message of the user */
export function inputContent(items: readonly unknown[]): readonly ContentPart[] | null {
  if (items.length === 0) return null;
  return items.flatMap((item) => {
    const { data } = inputMessage.safeParse(item);
    if (data === undefined) throw refused('holds what is no message of the user');
    const { content } = data;
    return typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content.map(toPart);
  });
}

function toPart(given: z.output<typeof part>): ContentPart {
  if (given.type === 'input_text') return { type: 'text', text: given.text };
  const url = given.type === 'input_image' ? given.image_url : given.file_data;
  const { mediaType, data } = DATA.exec(url)?.groups ?? {};
  if (mediaType === undefined || data === undefined) {
    throw refused('holds an address: send pictures and files as data:<media type>;base64,<data>');
  }
  const bytes = Buffer.from(data, 'base64');
  if (given.type === 'input_image') {
    const picture = measurePicture(bytes);
    if (picture === undefined) throw refused('holds a picture that models do not read');
    return { type: 'image', ...picture, data };
  }
  return { type: 'file', mediaType, name: given.filename, data, pages: isPdf(bytes) ? countPages(bytes) : 1 };
}

function refused(message: string): RequestError {
  const what = `${message}. A conversation is continued with previous_response_id, conversation, or items of its own`;
  return new RequestError('invalid_argument', `The request is refused: input ${what}.`, {
    fields: [{ field: 'input', message }],
  });
}
