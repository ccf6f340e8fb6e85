import type { Queries } from '../database/database.ts';
import { foldAccents } from './words.ts';
import type { Word } from './words.ts';

/** A language that Postgres brings a stemmer for, by the name of its dictionary without `_stem`. */
export type Language = string;

/** Identifiers and the words around them are mostly English. */
export const FALLBACK_LANGUAGE: Language = 'english';

const FUNCTION_WORDS: Readonly<Record<Language, string>> = {
  english:
    'the and of to is was you that it for with are have this not my we they what be a in on at by i he she do men',
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
const SCRIPTS: readonly [RegExp, Language][] = [
  [/\p{Script=Greek}{3}/u, 'greek'],
  [/\p{Script=Arabic}{3}/u, 'arabic'],
];

export const LANGUAGES: readonly Language[] = [...Object.keys(FUNCTION_WORDS), ...SCRIPTS.map(([, name]) => name)];

const WORDS_OF_LANGUAGES = Object.entries(FUNCTION_WORDS).map(
  ([language, words]) => [language, new Set(words.split(' '))] as const,
);
/** The beginning of a text shows its language. Characters. */
const EXAMINED = 1_000;
/** Fewer function words than this prove no other language: "die" and "men" are English too. */
const FEWEST_WORDS = 3;

export function languageOf(text: string): Language {
  const beginning = text.slice(0, EXAMINED);
  const script = SCRIPTS.find(([pattern]) => pattern.test(beginning));
  if (script !== undefined) return script[1];
  const said = beginning.toLowerCase().match(/\p{L}+/gu) ?? [];
  let [best, most] = [FALLBACK_LANGUAGE, 0];
  for (const [language, words] of WORDS_OF_LANGUAGES) {
    const found = said.filter((word) => words.has(word));
    // English comes first. "No, no, no!" is not Spanish.
    if (found.length > most && new Set(found).size > 1) [best, most] = [language, found.length];
    most = Math.max(most, FEWEST_WORDS - 1);
  }
  return best;
}

type StemmedWord = Pick<Word, 'text' | 'isPlain'>;

/** The stem of a word in a language that was asked for; without accents, as the index holds it. */
export type StemOf = (language: Language, word: StemmedWord) => { readonly term: string; readonly isStopWord: boolean };

/** Words kept per process; a natural language uses some 50,000. */
const KEPT_WORDS = 200_000;

/** By language and word, with a space between. */
let kept = new Map<string, ReturnType<StemOf>>();

/** Stems of words in their languages, asked from Postgres's dictionaries once per process. Stop words keep their own form. */
export async function stemsOf(
  sql: Queries,
  texts: readonly (readonly [Language, readonly StemmedWord[]])[],
): Promise<StemOf> {
  if (kept.size > KEPT_WORDS) kept = new Map();
  const known = kept;
  const asked = new Set<string>();
  for (const [language, words] of texts) {
    for (const { text, isPlain } of words)
      if (isPlain && !known.has(`${language} ${text}`)) asked.add(`${language} ${text}`);
  }
  if (asked.size > 0) {
    const rows = await sql<{ key: string; word: string; stem: string[] | null }[]>`
      select a.key, w.word, ts_lexize((split_part(a.key, ' ', 1) || '_stem')::regdictionary, w.word) as stem
      from unnest(${[...asked]}::text[]) as a (key) cross join lateral (select split_part(a.key, ' ', 2) as word) w`;
    for (const { key, word, stem } of rows) {
      known.set(key, { term: foldAccents(stem?.[0] ?? word), isStopWord: stem?.length === 0 });
    }
  }
  return (language, { text, isPlain }) =>
    (isPlain ? known.get(`${language} ${text}`) : undefined) ?? { term: foldAccents(text), isStopWord: false };
}

/**
 * Forms of English words that no stemmer brings together: "met" is how "meet" is told. Verbs whose past is spelled otherwise,
 * and plurals; each line of forms is one word. Forms that are stop words, or mostly another word ("saw", "left" as a side is
 * rare enough), stand with the verb that they are told with.
 */
const IRREGULAR = `
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent|bet|bind bound|bite bit bitten|
bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|
cling clung|come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|
fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|
forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|
hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|light lit|lose lost|
make made|mean meant|meet met|mistake mistook mistaken|pay paid|prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|
see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|
sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|speed sped|spell spelt|spend spent|spill spilt|spin spun|spring sprang sprung|
stand stood|steal stole stolen|stick stuck|sting stung|strike struck|swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|
teach taught|tear tore torn|tell told|think thought|throw threw thrown|understand understood|undertake undertook undertaken|wake woke woken|
wear wore worn|weave wove woven|weep wept|win won|withdraw withdrew withdrawn|write wrote written|
child children|person people|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|wife wives|life lives|knife knives|leaf leaves|
half halves|shelf shelves|wolf wolves|thief thieves|good better best|bad worse worst`;

const FORMS = new Map<string, readonly string[]>();
for (const line of IRREGULAR.replaceAll('\n', '').split('|')) {
  const forms = line.trim().split(' ');
  for (const form of forms) FORMS.set(form, [...(FORMS.get(form) ?? []), ...forms.filter((other) => other !== form)]);
}
/** "goes" and "meeting" are asked for as often as "go" and "meet". */
const ENDINGS = /(?:([bdgmnprt])\1)?(?:ing|es|s)$/u;

/** Other forms of an English word, in lower case; none for most words. */
export function irregularFormsOf(word: string): readonly string[] {
  const stem = word.replace(ENDINGS, '$1');
  const base = [word, ...(stem === word ? [] : [stem, `${stem}e`])].find((form) => FORMS.has(form));
  return base === undefined ? [] : [base, ...(FORMS.get(base) ?? [])].filter((form) => form !== word);
}
