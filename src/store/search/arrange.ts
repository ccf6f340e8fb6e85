import { plain } from './phrases.ts';
import { bestFirst, isSummary } from './rank.ts';
import type { RankedPassage } from './rank.ts';
import { beginningOf, statementOf } from './passage-text.ts';

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
/** What was found by meaning has no word of the query that tells whether both answer it. */
const SAME_WORDS_BY_MEANING = 0.8;
/** Passages that share this much of their shingles, four words in a row each, say the same (Manning et al., § 19.6). */
const DUPLICATE_SHINGLES = 0.9;
const SHINGLE_WORDS = 4;

const WORD = /[\p{L}\p{N}_]+/gu;
/** A number or a name: a passage that has another one says another thing. */
const TELLING = /[\p{N}\p{Lu}_]/u;

export type ArrangedPassage = RankedPassage & { readonly alsoIn: readonly string[] };

/** Folds duplicates, lifts what is newer above what it updates, and shows no entry too often while there is another. */
export function arrange(ranked: readonly RankedPassage[]): ArrangedPassage[] {
  return fewOfEach(foldNearDuplicates(newerFirst(foldCopies(ranked))));
}

/**
 * Of passages with the same text the newest stays, of the active branch if one is, at the place of the best. What two users say is said
 * twice; what tools return is the same for all.
 */
function foldCopies(ranked: readonly RankedPassage[]): ArrangedPassage[] {
  const byText = new Map<string, ArrangedPassage>();
  for (const passage of ranked) {
    const { kind, user, text, matched } = passage;
    const key = `${kind}\0${kind === 'tool_result' ? '' : (user ?? '')}\0${plain(text)}`;
    const best = byText.get(key) ?? { ...passage, alsoIn: [] };
    const kept = matched.length >= best.matched.length && isPreferred(passage, best) ? passage : best;
    const others = new Set([...best.alsoIn, best.conversationId, passage.conversationId]);
    others.delete(kept.conversationId);
    byText.set(key, { ...kept, score: best.score, match: best.match, alsoIn: [...others] });
  }
  return [...byText.values()].toSorted(bestFirst);
}

function isPreferred(one: RankedPassage, other: RankedPassage): boolean {
  if ((one.leftBranch === null) !== (other.leftBranch === null)) return one.leftBranch === null;
  const later =
    one.saidAt.getTime() - other.saidAt.getTime() ||
    one.createdAt.getTime() - other.createdAt.getTime() ||
    Number(one.id) - Number(other.id);
  return later > 0;
}

/**
 * What was changed later is still found, but below the change: of two passages that say nearly the same with other details, both
 * answering the query about as well, the newer one goes first. What was said on a branch that was left counts as older.
 */
function newerFirst(ranked: readonly ArrangedPassage[]): ArrangedPassage[] {
  const arranged: ArrangedPassage[] = [];
  const saidIn = once(wordsSaid);
  for (const newer of ranked.slice(0, COMPARED)) {
    const place = arranged.findIndex((older) => {
      const share = isPreferred(newer, older) ? sharedWordsToUpdate(newer, older) : null;
      return share !== null && sharedPart(saidIn(newer), saidIn(older)) >= share;
    });
    arranged.splice(place < 0 ? arranged.length : place, 0, newer);
  }
  return [...arranged, ...ranked.slice(COMPARED)];
}

/** What is made of a passage when it is first asked for: few are compared with each other. */
function once(make: (passage: ArrangedPassage) => ReadonlySet<string>) {
  const made = new Map<ArrangedPassage, ReadonlySet<string>>();
  return (passage: ArrangedPassage): ReadonlySet<string> => {
    const found = made.get(passage) ?? make(passage);
    made.set(passage, found);
    return found;
  };
}

/** Beginnings of the words of the sentence that has most of the query, without the names in the query. */
function wordsSaid({ matched, text }: RankedPassage): ReadonlySet<string> {
  const { words } = statementOf(text, matched);
  const names = new Set(matched.flatMap(({ isName, terms }) => (isName ? terms.map(beginningOf) : [])));
  return new Set([...words].filter((word) => !names.has(word)));
}

/** Part of its words that the newer one must share with the older one to update it; `null`: it does not, whatever it shares. */
function sharedWordsToUpdate(newer: RankedPassage, older: RankedPassage): number | null {
  if (newer.user !== older.user || (isSummary(newer) && !isSummary(older))) return null;
  if (older.match === 'phrase' && newer.match !== 'phrase') return null;
  // What another replies to it, or asks of it, is no news of it.
  if ((older.isSaidByAsked && !newer.isSaidByAsked) || (newer.asks && !older.asks)) return null;
  if (newer.score < SAME_SCORE * older.score) return null;
  const own = new Set(newer.matched.map(({ word }) => word));
  let [asked, answered] = [0, 0];
  for (const { word, weight, isName } of older.matched) {
    asked += weight;
    if (own.has(word)) answered += weight;
    // What another file says is no news of the one that is asked for.
    else if (isName || older.path?.toLowerCase().includes(word) === true) return null;
  }
  if (asked === 0) return SAME_WORDS_BY_MEANING;
  if (answered < SAME_QUESTION_OF_NEARLY_SAME * asked) return null;
  return answered >= SAME_QUESTION * asked ? SAME_WORDS : NEARLY_SAME_WORDS;
}

function sharedPart(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [less, more] = one.size < other.size ? [one, other] : [other, one];
  let common = 0;
  for (const word of less) if (more.has(word)) common += 1;
  return less.size === 0 ? 0 : common / less.size;
}

/** Of passages that say the same in nearly the same words the preferred one stays, at the place of the best: twelve would hide all else. */
function foldNearDuplicates(ranked: readonly ArrangedPassage[]): ArrangedPassage[] {
  const shingles = once(shinglesOf);
  const kept: ArrangedPassage[] = [];
  for (const passage of ranked.slice(0, COMPARED)) {
    const place = kept.findIndex(
      (other) => isComparable(passage, other) && sharedPart(shingles(passage), shingles(other)) >= DUPLICATE_SHINGLES,
    );
    const same = kept[place];
    if (same === undefined || tells(passage, same)) kept.push(passage);
    else if (isPreferred(passage, same)) kept[place] = passage;
  }
  return [...kept, ...ranked.slice(COMPARED)];
}

function shinglesOf({ text }: ArrangedPassage): ReadonlySet<string> {
  const words = text.toLowerCase().match(WORD) ?? [];
  const count = Math.max(1, words.length - SHINGLE_WORDS + 1);
  return new Set(Array.from({ length: count }, (_, at) => words.slice(at, at + SHINGLE_WORDS).join(' ')));
}

/** A shorter text would share all of its shingles with any that quotes it. */
function isComparable(one: ArrangedPassage, other: ArrangedPassage): boolean {
  const [less, more] = [one.text.length, other.text.length].toSorted((a, b) => a - b);
  return (
    one.conversationId === other.conversationId &&
    one.kind === other.kind &&
    one.matched.length === other.matched.length &&
    (less ?? 0) >= DUPLICATE_SHINGLES * (more ?? 0)
  );
}

function tells(one: ArrangedPassage, other: ArrangedPassage): boolean {
  const [words, others] = [one.text.match(WORD) ?? [], other.text.match(WORD) ?? []];
  const isNew = (known: readonly string[]) => (word: string) => TELLING.test(word) && !known.includes(word);
  return words.some(isNew(others)) || others.some(isNew(words));
}

function fewOfEach(ranked: readonly ArrangedPassage[]): ArrangedPassage[] {
  const counts = new Map<string, number>();
  const few = ranked.filter(({ sourceId }) => {
    counts.set(sourceId, (counts.get(sourceId) ?? 0) + 1);
    return (counts.get(sourceId) ?? 0) <= MOST_OF_ONE_ENTRY;
  });
  return [...new Set([...few, ...ranked])];
}
