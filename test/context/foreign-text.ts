import * as fc from 'fast-check';
import { FRAME_NAMES, LINES, tagsOf } from '../../src/context/log/frames.ts';

const MARKS = [
  ...FRAME_NAMES.flatMap((name) => {
    const { open, close } = tagsOf(name);
    return [open, `${open.slice(0, -1)} name="x">`, close];
  }),
  ...Object.values(LINES),
];

const HIDDEN = [
  '',
  '',
  ' ',
  '\n',
  '\u200b',
  '\u2060',
  '\u00ad',
  '\u202e',
  '\ufe0f',
  '\u0301',
  '\u0001',
  '\u2800',
  '\u{e0041}',
];

/** A mark as somebody may write it who wants it read: in any case and width, with what nobody sees in between. */
const disguisedMark = fc
  .tuple(
    fc.constantFrom(...MARKS),
    fc.array(fc.tuple(fc.constantFrom(...HIDDEN), fc.nat(2)), { minLength: 60, maxLength: 60 }),
  )
  .map(([mark, disguises]) =>
    Array.from(mark)
      .map((letter, at) => {
        const [hidden = '', form] = disguises[at % disguises.length] ?? [];
        const isInWord = /\w/u.test(letter) && /\w/u.test(mark[at + 1] ?? '');
        const wide =
          form === 2 && /[a-z<[#*/"]/iu.test(letter) ? String.fromCharCode(letter.charCodeAt(0) + 0xfee0) : letter;
        return (form === 1 ? letter.toUpperCase() : wide) + (isInWord && /\s/u.test(hidden) ? '' : hidden);
      })
      .join(''),
  );

export const foreignText = fc
  .array(fc.oneof(disguisedMark, fc.constantFrom(...MARKS), fc.string({ unit: 'binary', maxLength: 20 })), {
    maxLength: 6,
  })
  .map((pieces) => `x${pieces.join('')}`);

/** How often each mark stands in a text, by a reader who sees through every disguise. */
export function marksIn(text: string): Readonly<Record<string, number>> {
  const seen = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\s\p{Default_Ignorable_Code_Point}\p{Format}\p{Mark}\p{Control}]/gu, '');
  const count = (pattern: RegExp): number => seen.match(pattern)?.length ?? 0;
  const plain = (mark: string): string => mark.toLowerCase().replaceAll(/\s/gu, '');
  const tags = FRAME_NAMES.flatMap((name) => {
    const { open, close } = tagsOf(name);
    const begun = new RegExp(`${plain(open.slice(0, -1))}(?:[a-z]+="[^"]*")*>`, 'gu');
    return [[open, count(begun)] as const, [close, seen.split(plain(close)).length - 1] as const];
  });
  const lines = Object.values(LINES).map((line) => [line, seen.split(plain(line)).length - 1] as const);
  return Object.fromEntries([...tags, ...lines]);
}
