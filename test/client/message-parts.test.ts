import { expect, test } from 'vitest';
import { inOtherWords, messageParts } from '../../src/client/sending/message-parts.ts';
import type { ContentPart } from '../../src/context/log/content.ts';

function file(mediaType: string, bytes: Buffer): ContentPart {
  return { type: 'file', mediaType, name: 'notes', data: bytes.toString('base64'), pages: 1 };
}

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
  const pdf = file('application/pdf', Buffer.from('%PDF-1.7'));
  expect(messageParts([pdf])).toEqual([pdf]);
  const refused: readonly (readonly [ContentPart, RegExp])[] = [
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
  const picture: ContentPart = { type: 'image', mediaType: 'image/png', data: 'iVBORw==', width: 1, height: 1 };
  const pdf = file('application/pdf', Buffer.from('%PDF-1.7'));
  const said = messageParts([
    { type: 'text', text: 'What is this?' },
    picture,
    pdf,
    file('text/csv', Buffer.from('a;b')),
    { type: 'text', text: 'Be brief.' },
  ]);
  const csv = { type: 'text', text: '<attached_file name="notes">\na;b\n</attached_file>' };
  expect(inOtherWords(said, 'And this?')).toEqual([{ type: 'text', text: 'And this?' }, picture, pdf, csv]);
  expect(() => inOtherWords(said, ' ')).toThrow('empty');
});
