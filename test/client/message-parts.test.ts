import { expect, test } from 'vitest';
import { inOtherWords, messageParts } from '../../src/client/sending/message-parts.ts';
import type { MessagePart } from '../../src/client/arguments.ts';

function file(mediaType: string, bytes: Buffer): MessagePart {
  return { type: 'file', mediaType, name: 'notes', data: bytes.toString('base64') };
}

function image(bytes: Buffer): MessagePart {
  return { type: 'image', data: bytes.toString('base64') };
}

/** Signature and header of a PNG of 3 × 2 pixels. */
const PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000003000000020802000000', 'hex');

test('files of text become text, PDFs stay, and what no model reads is refused', () => {
  const words = Buffer.from('Größe: 12 €');
  for (const mediaType of [
    'text/csv',
    'text/plain; charset=utf-8',
    'application/json; charset=utf-8',
    'image/svg+xml',
  ]) {
    expect(messageParts([file(mediaType, words)])).toEqual([
      { type: 'text', text: '<attached_file name="notes">\nGröße: 12 €\n</attached_file>' },
    ]);
  }
  const pdf = file('application/pdf', Buffer.from('%PDF-1.7 <</Type/Page>> <</Type /Page>>'));
  // A sender's own word on size and type counts for nothing.
  const said = { ...image(PNG), mediaType: 'image/gif', width: 1, height: 1 };
  expect(messageParts([pdf, said])).toEqual([
    { ...pdf, pages: 2 },
    { ...image(PNG), mediaType: 'image/png', width: 3, height: 2 },
  ]);
  const refused: readonly (readonly [MessagePart, RegExp])[] = [
    [image(Buffer.from('heron')), /part 1 of the message is no image that models read: give the bytes of a PNG/],
    [
      file('application/zip', words),
      /the file notes is of type application\/zip: models read application\/pdf and text/,
    ],
    [file('text/plain', Buffer.from([0xff, 0xfe, 0x41])), /the file notes of type text\/plain is no text in UTF-8/],
    [file('text/plain', Buffer.from('a\0b')), /no text in UTF-8/],
  ];
  for (const [part, message] of refused) {
    expect(() => messageParts([{ type: 'text', text: 'Read it.' }, part])).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringMatching(message) as string }),
    );
  }
});

test('other words leave pictures and files where they are, those of text too', () => {
  const [picture, pdf] = messageParts([image(PNG), file('application/pdf', Buffer.from('%PDF-1.7'))]);
  const said = messageParts([
    { type: 'text', text: 'What is this?' },
    image(PNG),
    file('application/pdf', Buffer.from('%PDF-1.7')),
    file('text/csv', Buffer.from('a;b')),
    { type: 'text', text: 'Be brief.' },
  ]);
  const csv = { type: 'text', text: '<attached_file name="notes">\na;b\n</attached_file>' };
  expect(inOtherWords(said, 'And this?')).toEqual([{ type: 'text', text: 'And this?' }, picture, pdf, csv]);
  expect(() => inOtherWords(said, ' ')).toThrow('empty');
});
