import { dateTermsOf } from './dates.ts';
import { labelOf } from './heading.ts';
import { orderedChangesOf } from './orders-of-change.ts';
import { areOfDifferentThings, haveOtherTopics, sharesTopic, Topic } from './topic.ts';
import { couldHaveChanged, tellsOfChange, tellsOfNow } from './words-of-change.ts';

/** "beta-9, not alpha-7" */
const NEGATED =
  /\b(?:not|instead of|rather than|nicht|statt)\s+(?:the |an? |in |at |on |der |die |das )?([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*)|不是([^,，。]{1,12})|([\p{Script=Han}\p{Script=Katakana}ー\p{N}a-z]{1,12})(?:では|じゃ)(?:なく|な[いか]|ありません)|([\p{Script=Hangul}\p{N}a-z]{1,12}?)[이가] 아니/giu;
const FIRST_PERSON =
  /\b(?:I|my|me|we|our|us|ich|mein\w*|wir|unser\w*)\b|(?<!\p{L})(?:eu|meu|minha|nós|nosso|nossa|ik|mijn|wij|onze|m[oó]j|moja|moje|mnie|nasz[ae]?|я|мо[йяёи]|меня|мне|мы|наш[аеи]?|benim|bizim)(?!\p{L})|我|私|僕|俺|わたし|(?<!\p{L})(?:[나저내제난전]|우리)(?!\p{L}{2})/iu;
/** Japanese and Korean leave out who does it when it is who speaks: no word has the ending of a subject. */
const WITHOUT_SUBJECT =
  /^(?=[^はが]*\p{Script=Hiragana})[^はが]*$|^(?=.*\p{Script=Hangul})(?!.*\p{L}[은는이가](?:[^\p{L}]|$)).*$/u;
/** What is, not what happened. */
const STATE = /\b(?:is|are|am|'s|’s|now|currently|ist|sind)\b/iu;

const ASKS_FOR_STATE =
  /^(?:liv|home|resid|work|job|employ|compan|wohn|arbeit)|住|工作|上班|働|勤|仕事|살[고아았]|사[는나니]|일하|다니|근무|직장/u;
/** Where somebody lives and what for somebody works: of these one has one at a time, however each is said. */
const SINGLE_STATES: readonly RegExp[] = [
  /\b(?:lives?|lived|living|resides?|based) (?:in|at|near)\b|\b(?:moved|moving|relocated) (?:back )?to\b|\bwohn\w+ (?:jetzt )?in\b|住在|搬到|搬去|搬家|に住|引っ?越|転居|살고|살아|살았|이사/iu,
  /\bwork(?:s|ed|ing)? (?:at|for|as)\b|\b(?:job|position|role) (?:at|with|as)\b|\bjoined\b|\barbeite\w* (?:jetzt )?(?:bei|als)\b|在.{1,12}(?:工作|上班)|入职|跳槽|で働|に勤め|転職|入社|에서 일|에 다[니녀녔]|근무|이직|입사/iu,
];

const FRAME =
  /^(?:actually,? )?(.{1,80}?)(?: (?:is|are|was|were|equals|lautet|ist|war)(?: (?:now|set to|called|named))?| ?=| ?:| (?:listens?|runs?) on| (?:costs?|weighs?|takes?|points? to|heißt)| (?:was|were) born (?:in|on))\s+(.+?)[.!]*$/iu;
/** Of everybody and everything there is one. */
const SAYS_ONE = /\b(?:born (?:in|on)|called|named|heißt)\b/iu;
/** One thing of something. */
const ATTRIBUTE =
  /\b(?:favou?rite|name|colou?r|status|state|owner|deadline|due date|date|time|price|cost|budget|limit|size|number|port|key|password|address|version|score|total|capital|color|title|host|path|url|branch|age|role|plan)\b/iu;
/** What there is one of, behind who or what it is. */
const HOLDS =
  /\b(?:is|are) (?:now |currently )?((?:the|my|our|his|her|their|its) .+?)(?: now| these days| nowadays)?[.!]*$/iu;
/** Of what has no topic in common, so many words that tell anything have to be. */
const TELLING_WORDS = 2;
/** What "a member" is may be many things besides. */
const ONE_OF_A_KIND = /^(?:an?|one of|ein[em]?)\s/iu;
const HAS_VALUE = /\d|\p{Lu}|[_/]/u;
const NO_SUBJECT = new Set([
  'the',
  'a',
  'an',
  'my',
  'our',
  'his',
  'her',
  'their',
  'its',
  'new',
  'current',
  'now',
  'der',
  'die',
  'das',
  'neue',
]);
const NUMBERED = /[\p{L}\p{N}_.-]*\p{N}[\p{L}\p{N}_-]*/gu;
const PRONOUN = /^(?:i|you|he|she|it|we|they|this|that|there|here|what|who|ich|er|sie|es|wir)$/iu;

/** "with Dev", "and Anand"; "My sister Leela has": who takes part, or whom it is about. */
const TAKES_PART =
  /\b(?:with|and|for|by|mit|und)\s+(\p{Lu}[\p{L}\p{M}]+)|(?:^|[.,;] )(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Mm]eine?|[Tt]he)\s+(?:\p{Ll}+\s+){1,2}(\p{Lu}[\p{L}\p{M}]+)\s+\p{Ll}/gu;

/** What somebody says in one sentence. Each pattern is tried once, when it is first needed: all are compared with each other. */
export class Stated {
  /** Without its heading and its label. */
  readonly text: string;
  /** "Correction: " */
  readonly #label: string;
  readonly #speaker: string;
  readonly #at: Date;
  #changes: boolean | null = null;
  #orders: boolean | null = null;
  #tellsOfNow: boolean | null = null;
  #happened: boolean | null = null;
  #isOfSpeaker: boolean | null = null;
  #numbers: readonly string[] | null = null;
  #topic: Topic | null = null;

  /** @param speaker words of the name at the head; empty: nobody is named */
  constructor(text: string, speaker: readonly string[], at: Date) {
    this.#label = labelOf(text);
    this.text = text.slice(this.#label.length);
    this.#speaker = speaker.join(' ');
    this.#at = at;
  }

  get changes(): boolean {
    this.#changes ??= tellsOfChange(this.#label) || tellsOfChange(this.text);
    return this.#changes;
  }

  /** It tells somebody to change something. */
  get orders(): boolean {
    this.#orders ??= orderedChangesOf(this.text).length > 0;
    return this.#orders;
  }

  get tellsOfNow(): boolean {
    this.#tellsOfNow ??= tellsOfNow(this.text);
    return this.#tellsOfNow;
  }

  get happened(): boolean {
    this.#happened ??= !STATE.test(this.text) && dateTermsOf(this.text, this.#at).length > 0;
    return this.#happened;
  }

  get isOfSpeaker(): boolean {
    this.#isOfSpeaker ??= FIRST_PERSON.test(this.text) || WITHOUT_SUBJECT.test(this.text);
    return this.#isOfSpeaker;
  }

  get numbers(): readonly string[] {
    this.#numbers ??= this.text.match(NUMBERED) ?? [];
    return this.#numbers;
  }

  get topic(): Topic {
    this.#topic ??= new Topic(this.text);
    return this.#topic;
  }

  hasSameSpeaker(other: Stated): boolean {
    return this.#speaker === other.#speaker;
  }
}

/**
 * Whether a newer statement about the same says that the older one no longer holds: by words of change, by denying it, or because
 * what they say has one value at a time. Two things that happened at different times, or with different people, both stand, and so
 * does what is said of different things.
 */
export function isEvidentChange(newer: Stated, older: Stated): boolean {
  if (areOfDifferentPeople(newer, older)) return false;
  if (changesState(newer, older)) return true;
  // What they are about is read last: that costs most.
  return hasEvidence(newer, older) && !isOfOtherThing(newer, older);
}

function hasEvidence(newer: Stated, older: Stated): boolean {
  if (newer.changes && couldHaveChanged(newer.text, older.text)) return true;
  if (denies(newer.text, older.text)) return true;
  if (newer.happened && older.happened) return false;
  if (repeatsNumbers(newer, older)) return false;
  if (haveOthersInThem(newer.text, older.text)) return false;
  if (newer.tellsOfNow) return true;
  return haveOneValue(newer.text, older.text);
}

/** Whether the newer one changes, by its own words, what the older one is about: then they need have little else in common. */
export function changesTheSame(newer: Stated, older: Stated): boolean {
  if (!newer.changes || areOfDifferentPeople(newer, older) || !couldHaveChanged(newer.text, older.text)) return false;
  if (isOfOtherThing(newer, older)) return false;
  return sharesTopic(newer.topic, older.topic) || newer.topic.commonWords(older.topic) >= TELLING_WORDS;
}

function isOfOtherThing(newer: Stated, older: Stated): boolean {
  if (newer.orders && !older.topic.isThingOf(newer.topic)) return true;
  if (newer.topic.commonWords(older.topic) === 0 && !sharesTopic(newer.topic, older.topic)) return true;
  return areOfDifferentThings(newer.topic, older.topic) && !haveOneHolder(newer.text, older.text);
}

/** "Rita is the head of sales", "Omar is now the head of sales": somebody else, where there is one. */
function haveOneHolder(newer: string, older: string): boolean {
  const [one, other] = [HOLDS.exec(newer)?.[1], HOLDS.exec(older)?.[1]];
  return one !== undefined && one.toLowerCase() === other?.toLowerCase();
}

/** Whether the newer one says of the same person that where it lives, or what it works for, is another place now; in other words. */
export function changesState(newer: Stated, older: Stated): boolean {
  if (!newer.changes && !newer.tellsOfNow) return false;
  if (!SINGLE_STATES.some((state) => state.test(newer.text) && state.test(older.text))) return false;
  if (!newer.isOfSpeaker || !older.isOfSpeaker || !newer.hasSameSpeaker(older)) return false;
  // "My uncle lives", "my aunt lives"
  return !haveOtherTopics(newer.topic, older.topic);
}

/** Whether a word of a query asks where somebody lives or works. */
export function asksForState(word: string): boolean {
  return ASKS_FOR_STATE.test(word);
}

/** Whether it may be worth to look closer. */
export function tellsOfState(text: string): boolean {
  return SINGLE_STATES.some((state) => state.test(text));
}

function areOfDifferentPeople(one: Stated, other: Stated): boolean {
  return !one.hasSameSpeaker(other) && (one.isOfSpeaker || other.isOfSpeaker);
}

function denies(newer: string, older: string): boolean {
  const known = older.toLowerCase();
  for (const [, word, ...others] of newer.matchAll(NEGATED)) {
    const characters = others.find((each) => each !== undefined);
    const denied = (word ?? characters ?? '').toLowerCase().replace(/[.-]+$/u, '');
    if (denied.length > 2 && known.includes(denied)) return true;
    if (characters !== undefined && known.includes(denied)) return true;
  }
  return false;
}

/** What says the same number again says nothing else. */
function repeatsNumbers(newer: Stated, older: Stated): boolean {
  return older.numbers.length > 0 && older.numbers.every((number) => newer.numbers.includes(number));
}

/** Each has somebody in it whom the other has not. */
function haveOthersInThem(one: string, other: string): boolean {
  const [ofOne, ofOther] = [takingPart(one), takingPart(other)];
  return ofOne.some((name) => !other.includes(name)) && ofOther.some((name) => !one.includes(name));
}

function takingPart(text: string): string[] {
  return [...text.matchAll(TAKES_PART)].map(([, after, named]) => after ?? named ?? '');
}

/** "The deploy key is called alpha-7", "The deploy key is beta-9": of the same one thing another value. */
function haveOneValue(newer: string, older: string): boolean {
  const [one, other] = [FRAME.exec(newer), FRAME.exec(older)];
  if (one === null || other === null) return false;
  const [subject, otherSubject] = [subjectOf(one[1] ?? ''), subjectOf(other[1] ?? '')];
  if (subject === '' || subject !== otherSubject) return false;
  const [value = '', otherValue = ''] = [one[2], other[2]];
  if (value.toLowerCase() === otherValue.toLowerCase()) return false;
  if (SAYS_ONE.test(newer) && SAYS_ONE.test(older)) return true;
  if (ONE_OF_A_KIND.test(value) || ONE_OF_A_KIND.test(otherValue) || PRONOUN.test(subject)) return false;
  if (ATTRIBUTE.test(subject)) return true;
  const isName =
    /^\p{Lu}[\p{L}\p{M}]*(?: \p{Lu}[\p{L}\p{M}]*)*$/u.test((one[1] ?? '').trim()) && !/^The\b/u.test(one[1] ?? '');
  return !isName && HAS_VALUE.test(value) && HAS_VALUE.test(otherValue);
}

function subjectOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}_-]+/gu) ?? [];
  return words.filter((word) => !NO_SUBJECT.has(word)).join(' ');
}
