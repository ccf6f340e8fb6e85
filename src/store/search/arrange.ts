import { plain } from './phrases.ts';
import { bestFirst, isSummary } from './rank.ts';
import type { RankedPassage } from './rank.ts';
import { beginningOf, statementOf } from './statement.ts';

/** Passages of one entry that go before all else: ten of one file would hide it. */
const MOST_OF_ONE_ENTRY = 3;
/** Passages that are compared with each other. */
const COMPARED = 25;
/** A newer passage goes above an older one if it has about as much score … */
const SAME_SCORE = 0.55;
/** … this much of the query's words that the older one has, by weight, and shares this much of the words of the shorter of the two … */
const SAME_QUESTION = 0.7;
const SAME_WORDS = 0.4;
/** … or less of the query and more of the words: "born in New York City" may lack one of the question. */
const SAME_QUESTION_OF_NEARLY_SAME = 0.5;
const NEARLY_SAME_WORDS = 0.6;
/** Passages that share this much of their shingles, four words in a row each, say the same (Manning et al., § 19.6). */
const DUPLICATE_SHINGLES = 0.9;
const SHINGLE_WORDS = 4;

const WORD = /[\p{L}\p{N}_]+/gu;
/** A number or a name: a passage that has another one says another thing. */
const TELLING = /[\p{N}\p{Lu}_]/u;

/** A passage as it is listed. */
export interface ArrangedPassage extends RankedPassage {
  /** Other conversations that have the same text. */
  readonly alsoIn: readonly string[];
}

/** Folds duplicates, lifts what is newer above what it updates, and shows no entry too often while there is another. */
export function arrange(ranked: readonly RankedPassage[]): ArrangedPassage[] {
  return fewOfEach(foldNearDuplicates(newerFirst(foldCopies(ranked).map((passage) => new Compared(passage)))));
}

/**
 * Of passages with the same text the newest stays, of the active branch if one is, at the place of the best. What two users say is said
 * twice; what tools return is the same for all.
 */
function foldCopies(ranked: readonly RankedPassage[]): ArrangedPassage[] {
  const byText = new Map<string, [RankedPassage, ...RankedPassage[]]>();
  for (const passage of ranked) {
    const { kind, user, text } = passage;
    const key = `${kind}\0${kind === 'tool_result' ? '' : (user ?? '')}\0${plain(text)}`;
    const same = byText.get(key);
    if (same === undefined) byText.set(key, [passage]);
    else same.push(passage);
  }
  const folded = [...byText.values()].map((same) => {
    const [best] = same;
    const kept = same.reduce((one, other) =>
      other.matched.length >= one.matched.length && isPreferred(other, one) ? other : one,
    );
    const others = new Set(same.map(({ conversationId }) => conversationId));
    others.delete(kept.conversationId);
    return Object.assign({}, kept, { score: best.score, match: best.match, alsoIn: [...others] });
  });
  return folded.toSorted(bestFirst);
}

/** Whether one is shown rather than another that says the same. */
function isPreferred(one: RankedPassage, other: RankedPassage): boolean {
  if ((one.leftBranch === null) !== (other.leftBranch === null)) return one.leftBranch === null;
  return isNewer(one, other);
}

function isNewer(one: RankedPassage, other: RankedPassage): boolean {
  return (
    (one.saidAt.getTime() - other.saidAt.getTime() ||
      one.createdAt.getTime() - other.createdAt.getTime() ||
      Number(one.id) - Number(other.id)) > 0
  );
}

/** A passage with its words, made when they are first needed. */
class Compared {
  readonly passage: ArrangedPassage;
  #said: ReadonlySet<string> | null = null;
  #words: readonly string[] | null = null;
  #shingles: ReadonlySet<string> | null = null;

  constructor(passage: ArrangedPassage) {
    this.passage = passage;
  }

  /** Beginnings of the words of the sentence that has most of the query, without the names in the query. */
  get said(): ReadonlySet<string> {
    if (this.#said !== null) return this.#said;
    const { matched, text } = this.passage;
    const names = new Set(matched.filter(({ isName }) => isName).flatMap(({ terms }) => terms.map(beginningOf)));
    this.#said = new Set([...statementOf(text, matched).words].filter((word) => !names.has(word)));
    return this.#said;
  }

  /** Words as they are written. */
  get words(): readonly string[] {
    this.#words ??= this.passage.text.match(WORD) ?? [];
    return this.#words;
  }

  get shingles(): ReadonlySet<string> {
    const { words } = this;
    this.#shingles ??= new Set(
      Array.from({ length: Math.max(1, words.length - SHINGLE_WORDS + 1) }, (_, at) =>
        words
          .slice(at, at + SHINGLE_WORDS)
          .join(' ')
          .toLowerCase(),
      ),
    );
    return this.#shingles;
  }
}

/**
 * What was changed later is still found, but below the change: of two passages that say nearly the same with other details, both
 * answering the query about as well, the newer one goes first. What was said on a branch that was left counts as older.
 */
function newerFirst(ranked: readonly Compared[]): Compared[] {
  const arranged: Compared[] = [];
  for (const each of ranked.slice(0, COMPARED)) {
    const place = arranged.findIndex((above) => isPreferred(each.passage, above.passage) && updates(each, above));
    arranged.splice(place < 0 ? arranged.length : place, 0, each);
  }
  return [...arranged, ...ranked.slice(COMPARED)];
}

function updates(newer: Compared, older: Compared): boolean {
  const [one, other] = [newer.passage, older.passage];
  if (one.user !== other.user || (isSummary(one) && !isSummary(other))) return false;
  if (other.match === 'phrase' && one.match !== 'phrase') return false;
  // What another replies to it, or asks of it, is no news of it.
  if ((other.isSaidByAsked && !one.isSaidByAsked) || (one.asks && !other.asks)) return false;
  if (one.score < SAME_SCORE * other.score) return false;
  const own = new Set(one.matched.map(({ word }) => word));
  let [asked, answered] = [0, 0];
  for (const { word, weight, isName } of other.matched) {
    asked += weight;
    if (own.has(word)) answered += weight;
    // What another file says is no news of the one that is asked for.
    else if (isName || other.path?.toLowerCase().includes(word) === true) return false;
  }
  if (answered < SAME_QUESTION_OF_NEARLY_SAME * asked) return false;
  return (
    sharedPart(newer.said, older.said) >=
    (asked > 0 && answered >= SAME_QUESTION * asked ? SAME_WORDS : NEARLY_SAME_WORDS)
  );
}

/** Part of the smaller one that both have. */
function sharedPart(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [less, more] = one.size < other.size ? [one, other] : [other, one];
  let common = 0;
  for (const word of less) if (more.has(word)) common += 1;
  return less.size === 0 ? 0 : common / less.size;
}

/** Of passages that say the same in nearly the same words the preferred one stays, at the place of the best: eight would hide all else. */
function foldNearDuplicates(ranked: readonly Compared[]): Compared[] {
  const kept: Compared[] = [];
  for (const [at, each] of ranked.entries()) {
    const same = at < COMPARED ? kept.findIndex((other) => saySame(each, other)) : -1;
    const before = kept[same];
    if (before === undefined) kept.push(each);
    else if (isPreferred(each.passage, before.passage)) kept[same] = each;
  }
  return kept;
}

function saySame(one: Compared, other: Compared): boolean {
  const [a, b] = [one.passage, other.passage];
  if (a.conversationId !== b.conversationId || a.kind !== b.kind || a.matched.length !== b.matched.length) return false;
  const [less, more] = [one.words.length, other.words.length].toSorted((x, y) => x - y);
  if ((less ?? 0) < DUPLICATE_SHINGLES * (more ?? 0)) return false;
  const part = sharedPart(one.shingles, other.shingles);
  return part >= DUPLICATE_SHINGLES && !tells(one, other) && !tells(other, one);
}

/** Whether one has a number or a name that the other has not. */
function tells(one: Compared, other: Compared): boolean {
  const known = new Set(other.words);
  return one.words.some((word) => TELLING.test(word) && !known.has(word));
}

/** A few of each entry; its others come behind all that has anything of the query itself. */
function fewOfEach(ranked: readonly Compared[]): ArrangedPassage[] {
  const counts = new Map<string, number>();
  const [few, others]: [ArrangedPassage[], ArrangedPassage[]] = [[], []];
  for (const { passage } of ranked) {
    const count = (counts.get(passage.sourceId) ?? 0) + 1;
    counts.set(passage.sourceId, count);
    if (count <= MOST_OF_ONE_ENTRY) few.push(passage);
    else others.push(passage);
  }
  const isBeside = ({ match }: ArrangedPassage): boolean => match === 'neighbour';
  return [...few.filter((each) => !isBeside(each)), ...others, ...few.filter(isBeside)];
}
