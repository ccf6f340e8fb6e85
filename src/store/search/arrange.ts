import { foldNearDuplicates } from './near-duplicates.ts';
import { plain } from './phrases.ts';
import { bestFirst } from './rank.ts';
import { areOfOneUser, isPreferred, isSummary, wasLeft } from './candidate.ts';
import type { RankedCandidate } from './candidate.ts';
import {
  asksForState,
  changesState,
  changesTheSame,
  isEvidentChange,
  Stated,
  tellsOfState,
} from './evidence-of-change.ts';
import { tellsOfChange } from './words-of-change.ts';
import { NamedFiles } from './paths.ts';
import { headingOf, saidAtOf } from './heading.ts';
import type { Heading } from './heading.ts';
import { statementOf } from './statement.ts';
import type { Statement } from './statement.ts';

/** Passages of one entry that go before all else: ten of one file would hide it. */
const MOST_OF_ONE_ENTRY = 3;
/** Passages that are compared with each other. */
const COMPARED = 25;
/** Of what says the same later, so many of the best are read for a change. */
const MOST_UPDATERS = 4;
/**
 * A newer passage updates an older one when it has the names and numbers of the query that the older one
 * has, about as much score, most of the query's words that the older one has, by weight …
 */
const SAME_SCORE = 0.55;
const SAME_QUESTION = 0.7;
/** … and when the shorter of the two shares this much of its words with the other. */
const SAME_WORDS = 0.4;
/** Sentences that are more alike than that are of the same, even when one lacks a word of the question ("born in New York City"). */
const NEARLY_SAME_WORDS = 0.6;
const SAME_QUESTION_OF_NEARLY_SAME = 0.5;

/** What says by its own words that it changes what the other is about may say it in other words. */
const SAME_SCORE_OF_CHANGE = 0.15;
const SAME_QUESTION_OF_CHANGE = 0.2;

/** A candidate with the entry that says later that it is no longer so. */
export interface ArrangedCandidate extends RankedCandidate {
  /** `null`: nothing that was found updates it. */
  readonly updatedBy: string | null;
  /** Other conversations that have the same text. */
  readonly alsoIn: readonly string[];
}

interface FoldedCandidate extends RankedCandidate {
  readonly alsoIn: readonly string[];
}

interface OrderedCandidate extends FoldedCandidate {
  /** With what it was compared with; looked through for those alone that are listed. `null`: with nothing. */
  readonly compared: Compared | null;
}

/** Folds duplicates, lifts what is newer above what it updates, and shows no entry too often while there is another: so many of the best as are wanted. */
export function arrange(ranked: readonly RankedCandidate[], count: number): ArrangedCandidate[] {
  const listed = foldNearDuplicates(fewOfEach(newerFirst(foldDuplicates(ranked))), count);
  return listed.map(({ compared, ...candidate }) =>
    Object.assign(candidate, { updatedBy: compared?.updatedBy ?? null }),
  );
}

/**
 * Of passages with the same text the newest stays, of the active branch if one is, at the place of the best. What two users say is
 * said twice, and one may take it back, and so is what the user says and another repeats; what tools return is the same, whoever had
 * them called.
 */
function foldDuplicates(ranked: readonly RankedCandidate[]): FoldedCandidate[] {
  const alike = new Map<string, number>();
  const outline = ({ words, matched }: RankedCandidate): string => `${words} ${matched.length}`;
  for (const candidate of ranked) alike.set(outline(candidate), (alike.get(outline(candidate)) ?? 0) + 1);
  const byText = new Map<string, RankedCandidate[]>();
  for (const candidate of ranked) {
    // Its text is read only where another may have the same.
    const isAlone = alike.get(outline(candidate)) === 1;
    const text = isAlone ? `${candidate.sourceId} ${candidate.offset}` : saidIn(candidate);
    const same = byText.get(text);
    if (same === undefined) byText.set(text, [candidate]);
    else same.push(candidate);
  }
  return [...byText.values()].map(folded).toSorted(bestFirst);
}

function saidIn({ kind, user, text }: RankedCandidate): string {
  // No text of Postgres has this character.
  return `${kind}\0${kind === 'tool_result' ? '' : (user ?? '')}\0${plain(text)}`;
}

function folded(same: readonly RankedCandidate[]): FoldedCandidate {
  const [best, ...others] = same;
  if (best === undefined) throw new RangeError('nothing to fold');
  let kept = best;
  for (const other of others) if (isPreferred(other, kept)) kept = other;
  const conversations = new Set(same.map(({ conversationId }) => conversationId));
  conversations.delete(kept.conversationId);
  return { ...kept, score: best.score, match: best.match, alsoIn: [...conversations] };
}

/**
 * A statement that was changed later is still found, but below the change: of two passages that say
 * nearly the same with other details, both answering the query about as well, the newer one goes first. What was said on a
 * branch that was left counts as older than what stands on the active one: it was withdrawn.
 */
function newerFirst(ranked: readonly FoldedCandidate[]): OrderedCandidate[] {
  const arranged: Compared[] = [];
  const files = new NamedFiles();
  for (const candidate of ranked.slice(0, COMPARED)) {
    const each = new Compared(candidate, files);
    let place = -1;
    for (const [at, above] of arranged.entries()) {
      if (holdsOver(above, each)) {
        if (updates(above, each)) each.updaters.push(above);
        continue;
      }
      if (!holdsOver(each, above) || !updates(each, above)) continue;
      above.updaters.push(each);
      // Right above the first that it updates. Of many that say the same later most are no news, and would hide it.
      if (place < 0 && above.updaters.length <= MOST_UPDATERS) place = at;
    }
    arranged.splice(place < 0 ? arranged.length : place, 0, each);
  }
  return [
    ...arranged.map((compared) => Object.assign({}, compared.candidate, { compared })),
    ...ranked.slice(COMPARED).map((candidate) => Object.assign({}, candidate, { compared: null })),
  ];
}

/** A candidate with the words of what it says to the query, read when they are first needed. */
class Compared {
  readonly candidate: FoldedCandidate;
  /** What says the same later with other details. */
  readonly updaters: Compared[] = [];
  /** Words of the query that it has. */
  readonly mine: ReadonlySet<string>;
  /** What they weigh together. */
  readonly weight: number;
  #words: ReadonlySet<string> | null = null;
  #statement: Statement | null = null;
  readonly #heading: Heading;
  #stated: Stated | null = null;
  #tellsOfState: boolean | null = null;
  #mayTellOfChange: boolean | null = null;
  readonly #files: NamedFiles;

  constructor(candidate: FoldedCandidate, files: NamedFiles) {
    this.candidate = candidate;
    this.#files = files;
    this.#heading = headingOf(candidate.text);
    this.saidAt = (saidAtOf(candidate, this.#heading) ?? candidate.createdAt).getTime();
    this.mine = new Set(candidate.matched.map(({ word }) => word));
    this.weight = candidate.matched.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Names of the query stand in all that is compared, and say nothing of what is said of them. */
  get words(): ReadonlySet<string> {
    if (this.#words !== null) return this.#words;
    const words = new Set(this.#said.terms);
    for (const { isName, terms } of this.candidate.matched) if (isName) terms.forEach((term) => words.delete(term));
    this.#words = words;
    return words;
  }

  /** Whether a word of the query names the file that it is of. */
  isNamedBy(word: string): boolean {
    return this.#files.has(this.candidate.path, word);
  }

  /** When it was said, in milliseconds: what its heading says of that, for a dialogue may be imported long after. */
  readonly saidAt: number;

  /** It may say where somebody lives or works, which is what is asked for. Looked up once: it is compared with all others. */
  get tellsOfState(): boolean {
    this.#tellsOfState ??=
      this.candidate.matched.some(({ word }) => asksForState(word)) && tellsOfState(this.candidate.text);
    return this.#tellsOfState;
  }

  /** A sentence of it does; only then is the one looked for that answers the query. */
  get mayTellOfChange(): boolean {
    this.#mayTellOfChange ??= tellsOfChange(this.candidate.text);
    return this.#mayTellOfChange;
  }

  get stated(): Stated {
    this.#stated ??= new Stated(this.#said.text, this.#heading.speaker, new Date(this.saidAt));
    return this.#stated;
  }

  /** The first that says that it is no longer so. */
  get updatedBy(): string | null {
    const newer = this.updaters.slice(0, MOST_UPDATERS).find((each) => supersedes(each, this));
    return newer?.candidate.sourceId ?? null;
  }

  get #said(): Statement {
    this.#statement ??= statementOf(this.candidate);
    return this.#statement;
  }
}

/** Whether a newer one says what an older one says with other details. */
function updates(newer: Compared, older: Compared): boolean {
  const [one, other] = [newer.candidate, older.candidate];
  if (!areOfOneUser(one, other)) return false;
  if (isSummary(one) && !isSummary(other)) return false;
  if (other.match === 'phrase' && one.match !== 'phrase') return false;
  // What another replies to it updates nothing.
  if (other.isSaidByAsked && !one.isSaidByAsked) return false;
  if (newer.tellsOfState && older.tellsOfState && changesState(newer.stated, older.stated)) return true;
  // Reciprocal ranks say which is better, and hardly by how much.
  const share = (one.scoreByWords ?? one.score) / (other.scoreByWords ?? other.score);
  if (share < SAME_SCORE_OF_CHANGE) return false;
  const isAsGood = share >= SAME_SCORE;
  let answered = 0;
  for (const { word, isName, weight } of other.matched) {
    if (newer.mine.has(word)) answered += weight;
    // What another file says is no news of the one that is asked for.
    else if (isName || older.isNamedBy(word)) return false;
  }
  const asked = older.weight;
  // Without a word of the query nothing but what they say themselves tells that they are about the same.
  if (other.match === 'meaning') {
    if (!isAsGood || one.match !== 'meaning' || !areAlike(newer.words, older.words, NEARLY_SAME_WORDS)) return false;
    return isEvidentChange(newer.stated, older.stated);
  }
  // The words are read last: that costs most.
  if (asked <= 0 || answered < SAME_QUESTION_OF_CHANGE * asked) return false;
  if (newer.mayTellOfChange && changesTheSame(newer.stated, older.stated)) return true;
  // What only asks for it is no news of it.
  if (!isAsGood || (one.asks && !other.asks) || answered < SAME_QUESTION_OF_NEARLY_SAME * asked) return false;
  return areAlike(newer.words, older.words, answered >= SAME_QUESTION * asked ? SAME_WORDS : NEARLY_SAME_WORDS);
}

/**
 * Of what goes first as the newer, what may be said to take the place of the older: the same role says it later, or the user
 * corrects another, and what it says tells of a change. Two things that are alike are no evidence: both may be so.
 */
function supersedes(newer: Compared, older: Compared): boolean {
  const { kind } = newer.candidate;
  if (!isNewer(newer, older)) return false;
  if (kind !== older.candidate.kind && kind !== 'user') return false;
  return isEvidentChange(newer.stated, older.stated);
}

function holdsOver(one: Compared, other: Compared): boolean {
  const hasLeft = wasLeft(other.candidate);
  return wasLeft(one.candidate) === hasLeft ? isNewer(one, other) : hasLeft;
}

function isNewer(one: Compared, other: Compared): boolean {
  if (one.saidAt !== other.saidAt) return one.saidAt > other.saidAt;
  const later = one.candidate.createdAt.getTime() - other.candidate.createdAt.getTime();
  if (later !== 0) return later > 0;
  const [a, b] = [one.candidate, other.candidate];
  return a.conversationId === b.conversationId && (a.sequence ?? 0) > (b.sequence ?? 0);
}

/** Whether both have a share of the words of the one that has fewer. */
function areAlike(one: ReadonlySet<string>, other: ReadonlySet<string>, share: number): boolean {
  const [less, more] = one.size < other.size ? [one, other] : [other, one];
  if (less.size === 0) return share <= 0;
  const needed = share * less.size;
  let common = 0;
  let left = less.size;
  for (const word of less) {
    if (more.has(word)) common += 1;
    left -= 1;
    if (common + left < needed) return false;
  }
  return common >= needed;
}

/** No more than a few of each entry; its others come behind all that has anything of the query, before what was found beside that. */
function fewOfEach<T extends RankedCandidate>(ranked: readonly T[]): T[] {
  const counts = new Map<string, number>();
  const few: T[] = [];
  const others: T[] = [];
  for (const candidate of ranked) {
    const count = (counts.get(candidate.sourceId) ?? 0) + 1;
    counts.set(candidate.sourceId, count);
    if (count <= MOST_OF_ONE_ENTRY) few.push(candidate);
    else if (!hasHardlyAnything(candidate)) others.push(candidate);
  }
  const telling = 1 + few.findLastIndex((candidate) => !hasHardlyAnything(candidate));
  return [...few.slice(0, telling), ...others, ...few.slice(telling)];
}

/** Found for what stands beside it, or for words that stand everywhere. */
function hasHardlyAnything({ match, matched }: RankedCandidate): boolean {
  if (match === 'neighbour') return true;
  return (match === 'words' || match === 'similar') && matched.every(({ isStopWord }) => isStopWord);
}
