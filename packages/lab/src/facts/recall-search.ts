import { readableEntryText } from 'holdfast/internal/store/log/entry-text.js';
import { splitPassages } from 'holdfast/internal/store/search/passage-writer.js';
import { rarity } from 'holdfast/internal/store/search/rank.js';
import { foldAccents, wordsOf } from 'holdfast/internal/store/search/words.js';
import type { LabSession } from '../session/lab-session.ts';

/** Passages that `recall_search` shows unless it is asked for more. */
const PASSAGES = 5;
/** A term that more passages have counts only when no rarer one is found. */
const COMMON_SHARE = 0.3;

interface PassagePlace {
  readonly position: number;
  readonly text: () => string;
}

/**
 * `recall_search` over the originals of a session, in memory: passages, words and the weight of a word
 * are those of the product (`src/store/search`). It leaves out what that search does besides: stems,
 * dates, words side by side, words of the entries around, words that are like one that is nowhere.
 */
export class RecallSearch {
  private readonly places: PassagePlace[] = [];
  private readonly postings = new Map<string, number[]>();
  private readonly session: LabSession;

  /** @param queries all that will be asked: only their terms are indexed, which bounds the index */
  constructor(session: LabSession, queries: readonly string[]) {
    this.session = session;
    const wanted = new Set(queries.flatMap(termsOf));
    for (const position of session.entries.keys()) this.addEntry(position, wanted);
  }

  private addEntry(position: number, wanted: ReadonlySet<string>): void {
    for (const [index, passage] of splitPassages(this.textOf(position)).entries()) {
      const number = this.places.length;
      this.places.push({ position, text: () => splitPassages(this.textOf(position))[index]?.text ?? '' });
      for (const term of termsOf(passage.text)) {
        if (!wanted.has(term)) continue;
        const found = this.postings.get(term);
        if (found === undefined) this.postings.set(term, [number]);
        else found.push(number);
      }
    }
  }

  private textOf(position: number): string {
    return readableEntryText(this.session.content(position));
  }

  /** Texts of the passages that the search shows, best first. */
  search(query: string): readonly string[] {
    const total = this.places.length;
    const terms = termsOf(query).flatMap((term) => {
      const passages = this.postings.get(term) ?? [];
      return passages.length === 0 ? [] : [passages];
    });
    const telling = terms.filter((passages) => passages.length <= total * COMMON_SHARE);
    const used = telling.length > 0 ? telling : terms;
    const scores = new Map<number, number>();
    for (const passages of used) {
      const weight = rarity(passages.length, total);
      for (const passage of passages) scores.set(passage, (scores.get(passage) ?? 0) + weight);
    }
    const best = [...scores].sort((left, right) => right[1] - left[1] || this.newerFirst(left[0], right[0]));
    return best.slice(0, PASSAGES).map(([passage]) => this.places[passage]?.text() ?? '');
  }

  /** The newest entry first, its passages in order. */
  private newerFirst(left: number, right: number): number {
    const [one, other] = [this.places[left]?.position ?? 0, this.places[right]?.position ?? 0];
    return other - one || left - right;
  }
}

function termsOf(text: string): string[] {
  return [...new Set(wordsOf(text).map((word) => foldAccents(word.text)))];
}
