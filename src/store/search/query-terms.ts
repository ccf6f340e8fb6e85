import type { Queries } from '../database.ts';
import { dateTermsOf, yearTermsOf } from './dates.ts';
import { emojiIn } from './emoji.ts';
import { FALLBACK_LANGUAGE } from './languages.ts';
import type { Language } from './languages.ts';
import { stemsOf } from './stems.ts';
import type { Stem } from './stems.ts';
import { irregularFormsOf } from './irregular-forms.ts';
import { relatedWordsOf } from './related-words.ts';
import { foldAccents, wordsOf } from './words.ts';
import type { Word } from './words.ts';

/** One thing that a query asks for: a word with its stems in the languages of the conversation, or a date. */
export interface QueryTerm {
  /** The word as it was asked for, in lower case; a date's own term. */
  readonly word: string;
  /** Terms of the index; any of them counts. */
  readonly terms: readonly string[];
  readonly isStopWord: boolean;
  readonly isDate: boolean;
  /** A name or a number: what speaks of another is of something else. */
  readonly isName: boolean;
  /** Other words for the same things, or things of the kind: "dog" for "pet". */
  readonly isRelated: boolean;
  /** What it counts of a word that was asked for: 1, less for a related one. */
  readonly share: number;
  /** As one of so many that the query names for choice ("who among Ana, Ben and Eve"); 1 when it does not. */
  readonly oneOf: number;
  /** Place in the query, to see which words stand side by side. */
  readonly position: number;
}

/** Words of a query that others are looked for. */
const MOST_RELATED = 6;
/** Who asks for a "pet" may be told of a dog; the word itself is the better sign … */
const RELATED_SHARE = 0.4;
/** … and who asks for a dog may be told of a pet, which may be a cat. */
const WIDER_SHARE = 0.2;
/** Whether a passage that has nothing but this is only of the same kind of thing. */
export function isWider({ isRelated, share }: QueryTerm): boolean {
  return isRelated && share === WIDER_SHARE;
}

/** Pairs of characters of which Japanese makes the grammar of sentences; no dictionary of Postgres knows them. */
const JAPANESE_STOP_WORDS = new Set(
  'です でし ます まし ませ せん した すか たか して てい いる いま ある あり する から まで ので には では とは こと もの どこ こで こに いつ つで だれ れで なに なん んで この その これ それ'.split(
    ' ',
  ),
);

/** Words of a query, and dates, whose rarity is read, to look for the telling ones (`tellingTerms`): all of a question, the beginning of a file. */
const MOST_WORDS = 300;
const MOST_DATES = 40;

/** One stop word of another language may be a word of English. */
const FEWEST_OF_ANOTHER_LANGUAGE = 2;

export interface QueryReading {
  /** Of the texts that are searched. */
  readonly languages: readonly Language[];
  /** What relative dates of the query ("yesterday") are relative to. */
  readonly askedAt: Date;
  /** Also words that speak of the same things. */
  readonly withRelated: boolean;
}

/** What a query asks for. */
export async function queryTermsOf(
  sql: Queries,
  query: string,
  { languages, askedAt, withRelated }: QueryReading,
): Promise<QueryTerm[]> {
  const words = [...wordsOf(query), ...emojiIn(query)];
  const known = languages.length === 0 ? [FALLBACK_LANGUAGE] : languages;
  const forms = known.includes('english') ? otherForms(words) : new Map<string, readonly Word[]>();
  const asked = [...words, ...[...forms.values()].flat()];
  const stems = await Promise.all(known.map((language) => stemsOf(sql, language, asked)));
  const names = namesOf(query);
  const stopWords = stopWordsOf(words, known, stems);
  const choice = choiceOf(query);
  const found = new Map<string, QueryTerm>();
  for (const { text, position } of words) {
    const ofWord = stems.flatMap((each) => each.get(text) ?? []);
    const ofForms = (forms.get(text) ?? []).flatMap((form) => stems.flatMap((each) => each.get(form.text)?.term ?? []));
    const ofOlder = ofWord.flatMap(({ olderTerm }) => olderTerm ?? []);
    const terms = [...new Set([...ofForms, ...ofOlder, foldAccents(text), ...ofWord.map(({ term }) => term)])];
    // "limit" and "limits" ask for one thing.
    const stem = terms.at(-1) ?? text;
    const before = found.get(stem);
    if (before !== undefined) {
      found.set(stem, { ...before, terms: [...new Set([...terms, ...before.terms])] });
      continue;
    }
    found.set(stem, {
      word: text,
      terms,
      isStopWord: stopWords.has(text),
      isDate: false,
      isName: names.has(text) && (STOP_WORDS_AND_NAMES.has(text) || !stopWords.has(text)),
      isRelated: false,
      share: 1,
      oneOf: choice.words.has(text) ? choice.count : 1,
      position,
    });
  }
  const dated = [...new Set([...dateTermsOf(query, askedAt), ...yearTermsOf(query)])];
  const dates = dated.map((term): QueryTerm => {
    return {
      word: term,
      terms: [term],
      isStopWord: false,
      isDate: true,
      isName: false,
      isRelated: false,
      share: 1,
      oneOf: 1,
      position: -1,
    };
  });
  const related = withRelated && known.includes('english') ? await relatedTerms(sql, [...found.values()]) : [];
  return [
    ...stopWordsLast([...found.values()], MOST_WORDS),
    ...dates.slice(0, MOST_DATES),
    ...related.slice(0, MOST_RELATED),
  ];
}

/**
 * Stop words of the language that the query has most of, of those in which something was said: "sea", "son" and "Ben" tell something,
 * though Spanish and Dutch have them for words like "is" and "am".
 */
function stopWordsOf(
  words: readonly Word[],
  languages: readonly Language[],
  stems: readonly ReadonlyMap<string, Stem>[],
): ReadonlySet<string> {
  const found = stems.map((each) => new Set(words.flatMap(({ text }) => (each.get(text)?.isStopWord ? [text] : []))));
  const ofFallback = found[languages.indexOf(FALLBACK_LANGUAGE)];
  const most = Math.max(...found.map(({ size }) => size));
  const isOfAnother = ofFallback === undefined || most > Math.max(ofFallback.size, FEWEST_OF_ANOTHER_LANGUAGE - 1);
  const ofQuery = isOfAnother ? found.filter(({ size }) => size === most) : [ofFallback];
  const japanese = words.filter(({ text }) => JAPANESE_STOP_WORDS.has(text)).map(({ text }) => text);
  return new Set([...ofQuery, japanese].flatMap((each) => Array.from(each)));
}

/** So many of a query's words, in their order where it has no more. */
function stopWordsLast(words: readonly QueryTerm[], most: number): readonly QueryTerm[] {
  if (words.length <= most) return words;
  return words.toSorted((one, other) => Number(one.isStopWord) - Number(other.isStopWord)).slice(0, most);
}

/** One for each word of the query that one speaks of in other words too, and one for what it is a kind of. */
async function relatedTerms(sql: Queries, asked: readonly QueryTerm[]): Promise<QueryTerm[]> {
  const taken = new Set(asked.flatMap(({ terms }) => terms));
  const related = asked
    .filter((term) => !term.isStopWord && !term.isName)
    .map((term) => ({ term, words: relatedWordsOf(term.word) }));
  const words = related.flatMap(({ words: { alike, wider } }) => [...alike, ...wider]);
  const stems = await stemsOf(
    sql,
    'english',
    words.map((text) => ({ text, isPlain: true, position: -1 })),
  );
  const termOf = (term: QueryTerm, others: readonly string[], share: number): QueryTerm[] => {
    const stemmed = new Set(others.map((text) => stems.get(text)?.term ?? text));
    const terms = [...stemmed].filter((each) => !taken.has(each));
    return terms.length === 0 ? [] : [{ ...term, terms, isRelated: true, share, position: -1 }];
  };
  return [
    ...related.flatMap(({ term, words: { alike } }) => termOf(term, alike, RELATED_SHARE)),
    ...related.flatMap(({ term, words: { wider } }) => termOf(term, wider, WIDER_SHARE)),
  ];
}

/** "met" for "meet", for those words of the query that have such forms. */
function otherForms(words: readonly Word[]): ReadonlyMap<string, readonly Word[]> {
  return new Map(
    words.map(({ text, position }) => [
      text,
      irregularFormsOf(text).map((form) => ({ text: form, isPlain: true, position })),
    ]),
  );
}

const NAMED = String.raw`\p{Lu}[\p{L}\p{M}'’.-]*(?:\s+\p{Lu}[\p{L}\p{M}'’.-]*)*`;
/** "among Ana, Ben, and Eve"; "Ana or Ben". */
const CHOICE = new RegExp(
  String.raw`(?:\b(?:among|amongst|out of)\s+(${NAMED}(?:,? (?:and |or )?${NAMED})+))|(${NAMED}(?:, ${NAMED})*,? or ${NAMED})`,
  'u',
);

/** The names of which the query asks for one: who answers has one of them, who has all answers no better. */
function choiceOf(query: string): { readonly words: ReadonlySet<string>; readonly count: number } {
  const found = CHOICE.exec(query);
  const list = found?.[1] ?? found?.[2];
  if (list === undefined) return { words: new Set(), count: 1 };
  return { words: new Set(wordsOf(list).map(({ text }) => text)), count: list.split(/,? (?:and |or )|, /u).length };
}

/** English writes these with a capital wherever they stand. */
const NO_NAMES = new Set(['i', "i'm", "i've", "i'd", "i'll", 'i’m', 'i’ve', 'i’d', 'i’ll']);

const STOP_WORDS_AND_NAMES = new Set(['will', 'don']);

/** What counts its kind is one name, not its parts: "pump-4", "E1042", "v2.1". What begins with a digit may be a time ("7pm"). */
const NUMBERED = /(?<![\p{L}\p{N}_./:@-])\p{L}[\p{L}\p{N}]*(?:[-_./:@]?[\p{L}\p{N}]+)*/gu;

/** Words with a capital that do not begin a sentence, numbers, and words with a number in them. */
function namesOf(query: string): ReadonlySet<string> {
  const found = query.matchAll(/(?<=[^.!?\s]\s+["'“‘(]?)\p{Lu}[\p{L}\p{M}'’-]*|\d+/gu);
  const names = [...found].map(([name]) => name).filter((name) => !NO_NAMES.has(name.toLowerCase()));
  const numbered = [...query.matchAll(NUMBERED)]
    .map(([word]) => word.toLowerCase())
    .filter((word) => /\p{N}/u.test(word));
  return new Set([...names.flatMap((name) => wordsOf(name).map(({ text }) => text)), ...numbered]);
}
