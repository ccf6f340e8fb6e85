import { wordsOf } from './words.ts';

/** A language that Postgres brings a stemmer for, by the name of its dictionary without `_stem`. */
export type Language = string;

/** Taken when nothing speaks for another language: identifiers and the words around them are mostly English. */
export const FALLBACK_LANGUAGE: Language = 'english';

/** Words that make out a language; those that several of these languages share are left out where they mislead. */
const FUNCTION_WORDS: Readonly<Record<Language, string>> = {
  english:
    'the and of to is was you that it for with are have this not my we they what be a in on at by i he she his her as an or from has had do at men for',
  german: 'der die das und ist nicht ich sie mit ein eine den dem zu wir auf für auch von haben',
  french: 'le les des et est une pas je vous dans pour que qui sur avec nous du au ce sont',
  spanish: 'el los las y es una por con para del que no se lo está como más pero fue hay',
  italian: 'il gli che di è una non per con sono della anche ho nel alla più ma lo questo del',
  portuguese: 'os não uma para com que do da em é mais são dos foi você ao isso mas nos pela',
  dutch: 'de het een en van niet ik dat zijn met voor op je ook maar wij naar heeft hebben aan',
  swedish: 'och att det som en är inte jag på för med av har till den vi ett kan om men',
  danish: 'og at det som en er ikke jeg på for med af har til den vi et kan hvad men',
  norwegian: 'og at det som en er ikke jeg på for med av har til den vi et kan hva men',
  finnish: 'ja ei se että hän mutta oli minä ovat kun niin kuin myös joka tämä sen mitä ole olen',
  hungarian: 'az és nem hogy egy van is ez azt csak meg volt de mint már vagy lesz nekem ha',
  romanian: 'și nu este la cu din pe pentru sunt care mai că lui fost această sau dar într un eu',
  turkish: 've bir bu için ne da de ile çok ama var mı ben sen değil gibi daha olarak kadar sonra',
  russian: 'и в не на я что он с это как но по мы у за вы из так то был',
};

const LANGUAGES_OF_WORDS = new Map<string, Language[]>();
for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
  for (const word of words.split(' ')) {
    LANGUAGES_OF_WORDS.set(word, [...(LANGUAGES_OF_WORDS.get(word) ?? []), language]);
  }
}

const SCRIPTS: readonly [RegExp, Language][] = [
  [/\p{Script=Greek}{3}/u, 'greek'],
  [/\p{Script=Arabic}{3}/u, 'arabic'],
];

/** Characters that are looked at: the beginning of a text says what language it is. */
const LOOKED_AT = 2_000;

/** Function words without which a text is of no other language than the fallback. */
const FEWEST_WORDS = 3;

/** The language whose function words a text has most of. */
export function languageOf(text: string): Language {
  const beginning = text.slice(0, LOOKED_AT);
  const script = SCRIPTS.find(([pattern]) => pattern.test(beginning));
  if (script !== undefined) return script[1];
  const counts = new Map<Language, number>();
  const found = new Map<Language, Set<string>>();
  for (const { text: word } of wordsOf(beginning)) {
    for (const language of LANGUAGES_OF_WORDS.get(word) ?? []) {
      counts.set(language, (counts.get(language) ?? 0) + 1);
      found.set(language, (found.get(language) ?? new Set()).add(word));
    }
  }
  let best = FALLBACK_LANGUAGE;
  // A word or two are too little against the fallback: "die" and "men" are English too.
  let most = Math.max(FEWEST_WORDS - 1, counts.get(FALLBACK_LANGUAGE) ?? 0);
  for (const [language, count] of counts) {
    // "No, no, no!" is not Spanish.
    if (count > most && (found.get(language)?.size ?? 0) > 1) [best, most] = [language, count];
  }
  return best;
}
