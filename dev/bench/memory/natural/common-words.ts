/** The hundred commonest words of English, of the Oxford English Corpus; about every second word of a text is one of them. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(
  `the be to of and a in that have i it for not on with he as you do at this but his by from they we say her she or an will my
   one all would there their what so up out if about who get which go me when make can like time no just him know take people
   into year your good some could them see other than then now look only come its over think also back after use two how our
   work first well way even new want because any these give day most us is are was were has had been`.split(/\s+/u),
);

/** A word of letters, with what may stand before and after it; the word itself is the first group. */
const WORD = /^[("'“‘[]*(\p{L}+(?:['’-]\p{L}+)*)[)\]"'”’,.;:!?]*$/u;

/** What is left of a token without its punctuation, in small letters; `null` for what is no word of letters: numbers, paths, code. */
export function wordOf(token: string): string | null {
  return WORD.exec(token)?.[1]?.toLowerCase() ?? null;
}

export function isCommon(token: string): boolean {
  const word = wordOf(token);
  return word !== null && COMMON_WORDS.has(word);
}
