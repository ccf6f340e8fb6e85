import { wordsIn } from '../../context/unspaced-words.ts';
import { tellsOfChange } from './words-of-change.ts';
import { foldAccents } from './words.ts';
import {
  DESTINATIONS,
  DETERMINERS,
  FUNCTION_WORDS,
  JOINS,
  MEASURES,
  SPEAKERS,
  TIME,
  distinguishes,
  isTelling,
  isVerb,
  verbAt,
} from './kinds-of-words.ts';
import { headVerbAt, orderedObject } from './ordered-object.ts';

/** "Ankara'da": in Turkish where something is, not what. */
const TURKISH_PLACE = /([\p{L}\p{M}]{2,})['’]([dt][ae])(?![\p{L}])/gu;
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
  /** The noun itself: "title" of "the title of the page", and of "the page title". */
  readonly #head: string | null;
  /** "The button size" */
  readonly #isOfMeasure: boolean;
  readonly #namesAmount: boolean;
  readonly #text: string;
  readonly #units: ReadonlySet<string>;

  constructor(text: string) {
    this.#text = text;
    this.#units = new Set([...text.matchAll(QUANTITY)].map(([, unit = '']) => unit.toLowerCase()));
    if (EAST_ASIAN.test(text)) {
      this.words = eastAsianTopic(text);
      this.#head = null;
      this.#isOfMeasure = false;
      this.#namesAmount = true;
      this.#nouns = [];
      this.#complements = new Map();
      const pairs = wordsIn(text, TOKEN).filter((word) => EAST_ASIAN.test(word));
      this.#telling = new Set(pairs.filter((word) => !/\p{Script=Hiragana}/u.test(word)));
      return;
    }
    const folded = foldAccents(text.toLowerCase());
    const tokens = folded.match(TOKEN) ?? [];
    const placed = new Set([...folded.matchAll(TURKISH_PLACE)].flatMap(([, ...parts]) => parts));
    const told = placed.size === 0 ? tokens : tokens.filter((token) => !placed.has(token));
    const topic = topicOf(told, tellsOfChange(text));
    this.words = topic.filter(distinguishes).map(stripped);
    this.#head = headOf(topic);
    this.#isOfMeasure = topic.some((token) => MEASURES.has(token));
    this.#namesAmount = tokens.some((token) => MEASURES.has(token) || TIME.test(token));
    // What is counted in euros has nothing else to do with what is counted in them too.
    const isUnit = (word: string): boolean => this.#units.has(word) && !this.words.includes(stripped(word));
    this.#telling = new Set(
      tokens
        .filter(distinguishes)
        .filter((word) => !isUnit(word))
        .map(stripped),
    );
    const verb = headVerbAt(told);
    this.#nouns = told.filter((word, at) => at !== verb && isTelling(word) && !isVerb(word)).map(stripped);
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

  /** Whether it may be about the very thing that the other one is to change, and not about something of it, or that it is of. */
  isThingOf(order: Topic): boolean {
    if (order.#head === null) return true;
    if (order.#isOfMeasure && !this.#namesAmount) return false;
    return this.#head === null ? this.has(order.#head) : this.#head === order.#head;
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
  const ordered = orderedObject(tokens);
  if (ordered !== null) return ordered;
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

/** Of the words before what hangs on them the last that is a thing, and no measure of it: "release" of "the release date". */
function headOf(topic: readonly string[]): string | null {
  const end = topic.findIndex(
    (token, at) => at > 0 && (JOINS.has(token) || (FUNCTION_WORDS.has(token) && !DETERMINERS.has(token))),
  );
  const isThing = (token: string, at: number): boolean => distinguishes(token, at, topic) && !MEASURES.has(token);
  const before = end < 0 ? topic : topic.slice(0, end);
  const head = before.findLast(isThing) ?? topic.findLast(isThing);
  return head === undefined ? null : stripped(head);
}

/** Without the ending of the plural or of a case. */
function stripped(word: string): string {
  return word.length > 4 ? word.replace(/(?:(?<!s)s|e[nrms]?|[аеиоуыэюя]+)$/u, '') : word;
}

/** What stands before は, が or を, before 은, 는, 이, 가, 을 or 를, and in Chinese before its verb. */
function eastAsianTopic(text: string): readonly string[] {
  const clause =
    text.replace(/^(?:更正|訂正|정정|其实|実は|사실)[:：、,，]?\s*/u, '').split(/[。、，,.!！?？]/u)[0] ?? '';
  const found = KOREAN.test(clause)
    ? /^(.{1,20}?)[은는이가을를](?=\s)/u.exec(clause)
    : KANA.test(clause)
      ? /^(.{1,20}?)[はがをも]/u.exec(clause)
      : /^(?:我们?|他们?|她们?)?(?:已经?|刚)?把(.{1,16}?)(?=改|换|移|搬|迁|提|降|调|推|重命名|设)|^(.{1,16}?)(?=现在|目前|如今|已|不再|在|是|有|从|改|换|移|搬|迁|为|要|被|叫)/u.exec(
          clause,
        );
  const topic = (found?.[1] ?? found?.[2] ?? '').replace(
    /^(?:我们的?|我的?|咱们的?|新的?|私たちの|私の?|私たち|僕の?|俺|うちの|新しい|今の|今|毎週の|저는?|나|저희|우리|내|제|새|이번)\s*/u,
    '',
  );
  return topic === '' ? [] : topic.split(/\s+|の|的/u).filter((word) => word !== '');
}
