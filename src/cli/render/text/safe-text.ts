import { stripVTControlCharacters } from 'node:util';

/** Scripts whose letters are shaped by a joiner or non-joiner between them. */
const JOINING = [
  'Arab',
  'Syrc',
  'Deva',
  'Beng',
  'Guru',
  'Gujr',
  'Orya',
  'Taml',
  'Telu',
  'Knda',
  'Mlym',
  'Sinh',
  'Khmr',
  'Mymr',
]
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');

/** Where characters that are not seen belong to what is: in emoji, and between letters of such scripts. */
const MEANT = [
  String.raw`(?<=\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  String.raw`(?<=[${JOINING}]\p{Mark}{0,4})[\u200c\u200d](?=[${JOINING}])`,
  // The flags of England, Scotland and Wales are the only ones that Unicode spells with tags.
  String.raw`(?<=\u{1f3f4})\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`,
];

/** The escape codes of `COLOR_STYLE`. */
const OWN_STYLE = String.raw`\u001b\[(?:[12]|22|3[1236]|39)m`;

/**
 * Acts on a terminal or is not seen there: controls but line feeds and tabs, whatever reorders what follows, has no width or stands for
 * a line end, and halves of characters.
 */
const UNSEEN = String.raw`[^\P{Control}\n\t]|[\p{Format}\p{Default_Ignorable_Code_Point}\u2028\u2029\p{Surrogate}]`;

const MEANT_OR_UNSEEN = new RegExp(`(${MEANT.join('|')})|${UNSEEN}`, 'gu');
const STYLE_MEANT_OR_UNSEEN = new RegExp(`(${[OWN_STYLE, ...MEANT].join('|')})|${UNSEEN}`, 'gu');
const EVERY_UNSEEN = new RegExp(UNSEEN, 'gu');

const CONTROLS = /[^\P{Control}\n\t]/gu;

/**
 * Text of a model, a tool or a user without what could act on the terminal: no escape codes, no controls but line feeds. Characters
 * that nobody sees are written out (`\u{200f}`), but for those that emoji and some scripts are made with. Tabs become spaces, so that
 * widths can be counted.
 */
export function safeText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/^\ufeff/u, '')
    .replaceAll('\r\n', '\n')
    .replaceAll('\t', '    ')
    .replaceAll(CONTROLS, '')
    .replaceAll(MEANT_OR_UNSEEN, writtenOut);
}

/** The same on one line: white space of any kind becomes one space. */
export function safeLine(text: string): string {
  return safeText(text.replaceAll(/\s+/gu, ' ')).trim();
}

/** Lines as they are printed, with their colours: the last look at what a terminal gets, whoever composed it. */
export function printable(text: string): string {
  return text.replaceAll(STYLE_MEANT_OR_UNSEEN, writtenOut);
}

/** JSON that a terminal shows as it is: what is not seen stands as an escape, which every parser reads back. */
export function printableJson(json: string): string {
  return json.replaceAll(EVERY_UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

function writtenOut(character: string, meant: string | undefined): string {
  if (meant !== undefined) return character;
  return /\p{Surrogate}/u.test(character) ? '\ufffd' : `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
