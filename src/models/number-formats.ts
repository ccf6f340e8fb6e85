/** How errors write numbers, in any language: groups of digits, words and letters for thousands, powers, shapes of tensors. */

/** By how much a number is multiplied, with the words that say it; `140 ki` counts in 1024. */
const SCALE_WORDS: readonly (readonly [times: number, words: string])[] = [
  [1024, 'ki'],
  [1024 ** 2, 'mi'],
  [
    1e3,
    'k|thousand|tsd|tausend|mil|mille|mila|тыс|тысячи?|тисяч[іа]?|tys|tysi[ąę]cy|duizend|tusen|bin|ribu|nghìn|ngàn|千|천',
  ],
  [1e4, '万|萬|만'],
  [1e5, 'lakhs?|लाख'],
  [
    1e6,
    'm|million(?:en|s)?|mio|mln|millones|mill[óo]n|milh(?:ão|ões)|milion[ei]?|миллион(?:а|ов)?|млн|мільйон(?:а|ів)?|milyon|juta|triệu|백만',
  ],
];
const SCALES = SCALE_WORDS.map(([times, words]) => [times, new RegExp(`^(?:${words})$`, 'u')] as const);
/** Such a word to its end, in any script; `ktok` is written in one. */
const SCALE = String.raw`(?:(?:${SCALE_WORDS.map(([, words]) => words).join('|')})\.?(?![\p{Script=Latin}\p{Script=Cyrillic}0-9]|\.\d)|k(?=tok))`;

/** 128000, 128,000, 128.000, 128 000, 128_000, 128'000, 128k, 1,3 Mio., 12.8万; not the 32k of `gpt-4-32k` nor the 7 of `7b`. */
export const NUMBER = new RegExp(
  String.raw`(?<![a-z0-9_/.-])(-?)(?:(\d+,\d{1,3})(?= ?${SCALE})|(\d{1,3}(?:[ ,.'_]\d{3})+(?!\d)|\d+(?:\.\d+)?))( ?${SCALE})?(?![a-z]*\d|\.\d|[a-z]?\/)`,
  'gu',
);

/** 1.315e5, 1.3e+05, 1.3 x 10^5. */
const SCIENTIFIC = /(?<![\w.])(\d+(?:\.\d+)?)(?:e\+?0?| ?[x×·] ?10\^)([3-8])(?![\w.])/g;

/** The shape of a tensor: the second of its dimensions is the length of the sequence. */
const SHAPE = /(?:size|shape)[ :=]*(?:of )?\(?[[(] ?\d{1,4} ?, ?(\d+)(?: ?, ?\d+)* ?,? ?[\])]\)?/g;

/** Thousands apart, by the same sign each time: 1,048,576; in India 10,48,576; not 1.315 million. */
const GROUPED = new RegExp(
  String.raw`(?<![\w.,'-])\d{1,3}(?:([ ,.'_])\d{3}(?:\1\d{3})*|(?:,\d{2})+,\d{3})(?!\d|[.,'_]\d| ?${SCALE})`,
  'gu',
);

/** A normalized text with its numbers in digits alone, where no word says how large they are. */
export function plainNotation(text: string): string {
  return text
    .replaceAll(SCIENTIFIC, (_, digits: string, exponent: string) => `${Math.round(Number(`${digits}e${exponent}`))}`)
    .replaceAll(GROUPED, (digits) => digits.replaceAll(/\D/g, ''))
    .replaceAll(SHAPE, 'length $1');
}

/** What a match of `NUMBER` is worth, without its sign. */
export function valueOf(match: RegExpExecArray): number {
  const [, , decimal, digits = '', word = ''] = match;
  const times = timesOf(word.trim().replace(/\.$/, ''));
  if (decimal !== undefined) return Math.round(Number(decimal.replace(',', '.')) * times);
  return times === 1 ? plainNumber(digits) : Math.round(Number(digits.replaceAll(/[ ,'_]/g, '')) * times);
}

function timesOf(word: string): number {
  return SCALES.find(([, words]) => words.test(word))?.[0] ?? 1;
}

/** A number without its separators; a point counts as one only before exactly three digits. */
export function plainNumber(digits: string): number {
  const grouped = /^\d{1,3}(?:[ ,.'_]\d{3})+$/.test(digits.trim());
  return Number(grouped ? digits.replaceAll(/[^0-9]/g, '') : digits.replaceAll(/[ ,'_]|\.$/g, ''));
}
