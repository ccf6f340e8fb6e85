import { wordsIn } from '../../context/unspaced-words.ts';
import { tellsOfChange } from './words-of-change.ts';
import { foldAccents } from './words.ts';

const listed = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/u));

/** Names nothing that another sentence could be told from. */
const FUNCTION_WORDS = listed(
  `the a an this that these those some any all both each every of for with and or but not no nor so than then to from in into on onto at by up down out off over under about as
  my our your his her their its mine i you he she it we they me him us them who which what there here also just still only very too more most much again already actually correction update ps fyi hey well
  der die das den dem des ein eine einen einem einer eines kein keine keinen mein meine meinen unser unsere unseren unserem sein seine ihr ihre ihren euer und oder aber nicht auch noch schon von vom zu zum zur im in ins am an auf aus bei beim mit nach fur um uber unter vor ich du er sie es wir man mir mich uns
  le la les un une des du de d l et ou mais ne pas plus en dans sur sous pour par avec au aux ce cet cette ces mon ma mes notre nos votre son sa ses leur leurs je j tu il elle on nous vous ils elles que qui qu c s n m t fait
  el los las lo una unos unas del al y o pero ya por para con sin su sus mi mis nuestro nuestra nuestros tu se que hemos he han realidad il gli uno della dello dei delle nel nella al alla e ed ma per con su sul mio mia nostro nostra abbiamo ho os as uma da dos das em no na nos nas com meu minha nosso nossa`,
);
/** Of one thing at different times, or in another state. */
const PASSING_WORDS = listed(
  'now nowadays currently by today yesterday tomorrow tonight since until till last next week weekly month monthly year yearly daily day days morning evening night new old current latest previous former max maximum min minimum total first second third longer anymore instead jetzt nun neu neue neuer neues neuen alte alter alten mehr inzwischen mittlerweile seit bis heute morgen gestern woche wochentliche nachste nachsten aktuelle maintenant desormais actuellement nouveau nouvelle nouvel ancien ancienne ahora actualmente nuevo nueva viejo anterior adesso ora nuovo nuova agora novo nova',
);
const TIME =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|marz|mai|juni|juli|oktober|dezember|\d.*)$/u;

/** Has a verb that says hardly more than that something is so. */
const CERTAIN_VERBS = listed(
  `am is are was were be been being isn aren wasn weren has have had hasn haven hadn does do did doesn don didn will would can could shall should may might must won
  ist sind war waren bin hat haben hatte wird werden wurde wurden kann muss soll darf est sont etait etaient a ont avait sera va vont es esta estan son era eran tiene tienen ha habia fue sera sono era hanno aveva foi tem sao`,
);
const VERBS = listed(
  `get gets got go goes went come comes came run runs ran take takes took cost costs use uses lives live work works meet meets met start starts begin begins began stop stops end ends open opens close closes stand stands stood sit sits lie lies hang hangs hung keep keeps kept hold holds held need needs want wants like likes prefer prefers love loves own owns lead leads eat eats drink drinks play plays read reads write writes wrote speak speaks drive drives drove ride rides sleep sleeps study studies teach teaches taught pay pays paid sell sells sold buy buys bought make makes made say says said listen listens point points weigh weighs contain contains return returns fail fails pass passes expire expires leave leaves left arrive arrives stay stays belong belongs happen happens become becomes became grow grows grew send sends sent give gives gave show shows depart departs deploy deploys ship ships host hosts depend depends respond responds answer answers report reports serve serves handle handles cover covers last lasts set sets
  steht stehen liegt liegen hangt hangen wohnt wohnen kommt geht lauft laufen kostet kosten heisst heißt beginnt beginnen findet trifft treffen nutzt nutzen verwendet arbeitet arbeiten fahrt fahren gehort dauert braucht lebt leben startet endet
  habite habitent travaille travaillent commence commencent coute finit dure utilise ferme ouvre se tourne vive viven trabaja trabajan cuesta empieza empiezan termina usa usan dura abre cierra corre esta vive abita lavora costa inizia finisce`,
);
const PAST = /^\p{L}{2,}[^e]ed$/u;
/** A verb where an article or a preposition follows ("boards at"), else as well a plural. */
const PRESENT = /^\p{L}{2,}[^su]s$/u;
const DETERMINERS = listed(
  'the a an my our his her their its this that of der die das den dem ein eine le la les un une el los las il lo',
);
/** Who speaks or was named before; the verb follows. */
const SPEAKERS = listed(
  'i we he she it they you ich wir er sie es man je j nous on il elle ils hemos he han abbiamo ho hanno we ve',
);
/** Between a word and what hangs on it. */
const JOINS = listed('of for from von vom fur des de du d del della');
/** What somebody changes stands before this. */
const DESTINATIONS = listed(
  'to from by until till into nach auf von zu zum zur in bis vers a au aux pour para al da per',
);
/** One thing of something: what is called a limit may be called a size as well. */
const MEASURES = listed(
  'limit size quota cap price cost costs fee rent budget salary amount number length duration time date deadline temperature speed rate level place location address',
);
const QUANTITY = /\d[\d.,]*\s?(\p{L}+|[%€$£¥°])/gu;
const TOKEN = /[\p{L}\p{N}][\p{L}\p{M}\p{N}_.:/-]*[\p{L}\p{M}\p{N}_]|[\p{L}\p{N}]/gu;
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const KOREAN = /\p{Script=Hangul}/u;
const KANA = /\p{Script=Hiragana}/u;

/** What of a sentence tells what it is about, read once: all are compared with each other. */
export class Topic {
  /** Words before the verb, or what somebody changes. */
  readonly words: readonly string[];
  /** All words of the sentence that tell anything. */
  readonly #telling: ReadonlySet<string>;
  /** Of these what is no verb, in the order of the sentence; none where words have no spaces between them. */
  readonly #nouns: readonly string[];
  /** What hangs on a word: "car" on "key", of "the key of the car". */
  readonly #complements: ReadonlyMap<string, string>;
  readonly #text: string;
  readonly #units: ReadonlySet<string>;

  constructor(text: string) {
    this.#text = text;
    this.#units = new Set([...text.matchAll(QUANTITY)].map(([, unit = '']) => unit.toLowerCase()));
    if (EAST_ASIAN.test(text)) {
      this.words = eastAsianTopic(text);
      this.#nouns = [];
      this.#complements = new Map();
      const pairs = wordsIn(text, TOKEN).filter((word) => EAST_ASIAN.test(word));
      this.#telling = new Set(pairs.filter((word) => !/\p{Script=Hiragana}/u.test(word)));
      return;
    }
    const tokens = foldAccents(text.toLowerCase()).match(TOKEN) ?? [];
    this.words = topicOf(tokens, tellsOfChange(text)).filter(distinguishes).map(stripped);
    // What is counted in euros has nothing else to do with what is counted in them too.
    const isUnit = (word: string): boolean => this.#units.has(word) && !this.words.includes(stripped(word));
    this.#telling = new Set(
      tokens
        .filter(distinguishes)
        .filter((word) => !isUnit(word))
        .map(stripped),
    );
    this.#nouns = tokens.filter((word) => isTelling(word) && !isVerb(word)).map(stripped);
    this.#complements = complementsOf(tokens);
  }

  /** Words of the topic that the other sentence has nowhere. */
  without(other: Topic): readonly string[] {
    return this.words.filter((word) => !other.has(word));
  }

  has(word: string): boolean {
    return EAST_ASIAN.test(word) ? this.#text.includes(word) : this.#telling.has(word);
  }

  /** How many of the words that tell anything both have. */
  commonWords(other: Topic): number {
    return [...this.#telling].filter((word) => other.has(word)).length;
  }

  /**
   * A word beside a common one was replaced, and so was what is said of it: "the key of the front door … the mat", "the key of
   * the back door … the shed". Where one thing alone was replaced, that is what changed.
   */
  isOfOtherKind(other: Topic): boolean {
    const [mine, others] = [this.#nouns, other.#nouns];
    const hasOtherRest = (at: number, place: number): boolean =>
      mine.slice(at + 1).some((each) => !others.includes(each)) &&
      others.slice(place + 1).some((each) => !mine.includes(each));
    const isReplaced = (word: string | undefined, by: string | undefined): boolean =>
      word !== undefined && by !== undefined && !others.includes(word) && !mine.includes(by) && !/\d/u.test(word + by);
    const apart = (nouns: readonly string[], from: readonly string[]): boolean =>
      nouns.length > 1 && nouns.every((noun) => !from.includes(noun));
    // "We use Redis for the cache", "we use Kafka for the queue"
    if (apart(mine, others) && apart(others, mine)) return true;
    return mine.some((word, at) => {
      const place = others.indexOf(word);
      if (place < 0 || TIME.test(word)) return false;
      if (isReplaced(mine[at - 1], others[place - 1]) && hasOtherRest(at, place)) return true;
      const [complement, by] = [this.#complements.get(word), other.#complements.get(word)];
      if (!isReplaced(complement, by)) return false;
      return hasOtherRest(mine.indexOf(complement ?? ''), others.indexOf(by ?? ''));
    });
  }

  /** "10 MB", "25 MB" */
  sharesUnit(other: Topic): boolean {
    return [...this.#units].some((unit) => other.#units.has(unit));
  }
}

/** Each is about something that the other does not name: "the red team …", "the blue team …". */
export function haveOtherTopics(one: Topic, other: Topic): boolean {
  const [ofOne, ofOther] = [one.without(other), other.without(one)];
  if (ofOne.length === 0 || ofOther.length === 0) return false;
  const isOtherWord = [...ofOne, ...ofOther].every((word) => MEASURES.has(word)) && one.sharesUnit(other);
  return !isOtherWord || !sharesTopic(one, other);
}

/** The same, whether what they are about stands before the verb or behind it. */
export function areOfDifferentThings(one: Topic, other: Topic): boolean {
  return haveOtherTopics(one, other) || one.isOfOtherKind(other);
}

/** Both name the same thing as what they are about. */
export function sharesTopic(one: Topic, other: Topic): boolean {
  return one.words.some(
    (word) =>
      other.words.includes(word) ||
      (EAST_ASIAN.test(word) && other.words.some((each) => each.includes(word) || word.includes(each))),
  );
}

function topicOf(tokens: readonly string[], changes: boolean): readonly string[] {
  const first = tokens.findIndex((token) => isTelling(token) || SPEAKERS.has(token) || DETERMINERS.has(token));
  const beginning = tokens.slice(Math.max(0, first));
  if (SPEAKERS.has(beginning[0] ?? '') && !DETERMINERS.has(beginning[0] ?? ''))
    return changes ? objectOf(beginning.slice(1)) : [];
  const verb = verbAt(beginning);
  return verb < 0 ? firstNoun(beginning) : beginning.slice(0, verb);
}

/** "(I) raised the upload limit (to 25 MB)", "(Wir) haben den Server (nach Falkenstein verlegt)" */
function objectOf(tokens: readonly string[]): readonly string[] {
  const article = tokens.findIndex((token) => DETERMINERS.has(token));
  const end = tokens.findIndex((token, at) => at > 0 && at > article && DESTINATIONS.has(token));
  if (end < 0 || article < 0 || article > end) return [];
  return tokens.slice(article, end).filter((token) => !tellsOfChange(token) && !isVerb(token));
}

/** Without a verb that is known: the first noun with what hangs on it. */
function firstNoun(tokens: readonly string[]): readonly string[] {
  const first = tokens.findIndex(isTelling);
  if (!JOINS.has(tokens[first + 1] ?? '')) return tokens.slice(0, first + 1);
  const end = tokens.findIndex((token, at) => at > first + 1 && isTelling(token));
  return tokens.slice(first, end + 1);
}

function complementsOf(tokens: readonly string[]): ReadonlyMap<string, string> {
  const complements = new Map<string, string>();
  for (const [at, token] of tokens.entries()) {
    if (!isTelling(token) || isVerb(token) || !JOINS.has(tokens[at + 1] ?? '')) continue;
    const complement = tokens.slice(at + 2, at + 4).find(isTelling);
    if (complement !== undefined) complements.set(stripped(token), stripped(complement));
  }
  return complements;
}

/** The last of the first verbs in a row. */
function verbAt(tokens: readonly string[]): number {
  for (const [at, token] of tokens.entries()) {
    if (at === 0 || DETERMINERS.has(tokens[at - 1] ?? '')) continue;
    if (CERTAIN_VERBS.has(token)) return at;
    const next = tokens[at + 1] ?? '';
    const mayBeVerb = PRESENT.test(token) && FUNCTION_WORDS.has(next) && !JOINS.has(next);
    if (!VERBS.has(token) && !PAST.test(token) && !mayBeVerb) continue;
    // "The test run takes …": the first of them is a noun.
    return isVerb(next) ? at + 1 : at;
  }
  return -1;
}

function isVerb(token: string): boolean {
  return CERTAIN_VERBS.has(token) || VERBS.has(token) || PAST.test(token);
}

function isTelling(token: string): boolean {
  return !FUNCTION_WORDS.has(token) && !PASSING_WORDS.has(token) && !TIME.test(token) && !CERTAIN_VERBS.has(token);
}

/** A number behind a noun counts it, as in "sprint 12"; another one is a time, or what is said of it. */
function distinguishes(token: string, at: number, tokens: readonly string[]): boolean {
  const before = tokens[at - 1] ?? '';
  return isTelling(token) || (/^\d/u.test(token) && isTelling(before) && !isVerb(before));
}

/** Without the ending of the plural or of a case. */
function stripped(word: string): string {
  return word.length > 4 ? word.replace(/(?:(?<!s)s|e[nrms]?)$/u, '') : word;
}

/** What stands before は, が or を, before 은, 는, 이, 가, 을 or 를, and in Chinese before its verb. */
function eastAsianTopic(text: string): readonly string[] {
  const clause =
    text.replace(/^(?:更正|訂正|정정|其实|実は|사실)[:：、,，]?\s*/u, '').split(/[。、，,.!！?？]/u)[0] ?? '';
  const found = KOREAN.test(clause)
    ? /^(.{1,20}?)[은는이가을를](?=\s)/u.exec(clause)
    : KANA.test(clause)
      ? /^(.{1,20}?)[はがをも]/u.exec(clause)
      : /^(?:我们?|他们?|她们?)?(?:已经?|刚)?把(.{1,16}?)(?=改|换|移|搬|迁|提|降|调|推)|^(.{1,16}?)(?=现在|目前|如今|已|不再|在|是|有|从|改|换|移|搬|迁|为|要|被)/u.exec(
          clause,
        );
  const topic = (found?.[1] ?? found?.[2] ?? '').replace(
    /^(?:我们的?|我的?|咱们的?|新的?|私たちの|私の?|私たち|僕の?|俺|うちの|新しい|今の|今|毎週の|저는?|나|저희|우리|내|제|새|이번)\s*/u,
    '',
  );
  return topic === '' ? [] : topic.split(/\s+|の|的/u).filter((word) => word !== '');
}
