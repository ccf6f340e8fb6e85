import type { Fact } from './facts.ts';

/** Requirements and error lines come back in other words: this share of their words on one line is the same fact. */
const SAME_WORDS = 0.6;

export interface SearchedText {
  readonly text: string;
  /** Words of each line, made when first asked for. */
  readonly lines: () => readonly ReadonlySet<string>[];
}

/** @param reworded whether a line may say a requirement or an error in other words: what a summary does, and a copy does not */
export function searchedText(text: string, reworded: boolean): SearchedText {
  let lines: readonly ReadonlySet<string>[] | null = reworded ? null : [];
  return { text, lines: () => (lines ??= text.split('\n').map((line) => new Set(wordsOf(line)))) };
}

/** Whether the text says the fact: as it is, between borders of words; sentences also by most of their words on one line. */
export function saysFact({ text, lines }: SearchedText, fact: Pick<Fact, 'kind' | 'text'>): boolean {
  if (standsIn(text, fact)) return true;
  if (fact.kind !== 'requirement' && fact.kind !== 'error') return false;
  const words = [...new Set(wordsOf(fact.text))];
  if (words.length < 3) return false;
  const needed = words.length * SAME_WORDS;
  return lines().some((line) => line.size >= needed && words.filter((word) => line.has(word)).length >= needed);
}

function standsIn(text: string, { kind, text: wanted }: Pick<Fact, 'kind' | 'text'>): boolean {
  const joined = kind === 'number' ? NUMBER_GOES_ON : WORD_GOES_ON;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const before = isEscape(text, at - 2) ? undefined : text[at - 1];
    if (!goesOn(before, wanted[0], joined) && !goesOn(text[at + wanted.length], wanted.at(-1), joined)) return true;
  }
  return false;
}

/** Line ends and tabs in the end of JSON that was clipped: nothing tells any more that it is JSON, and it is shown as it was. */
function isEscape(text: string, at: number): boolean {
  return at >= 0 && /^\\[nrt]$/.test(text.slice(at, at + 2));
}

const WORD_GOES_ON = /\w/;
/** Ids, which stand in every view, have groups of four digits between hyphens. */
const NUMBER_GOES_ON = /[\w-]/;

/** Whether the character beside the border goes on with the word that the fact begins or ends with. */
function goesOn(beside: string | undefined, edge: string | undefined, joined: RegExp): boolean {
  return beside !== undefined && edge !== undefined && joined.test(beside) && WORD_GOES_ON.test(edge);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
}
