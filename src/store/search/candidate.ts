import type { FoundPassage, PassageKind } from './found-passage.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** A passage that may answer, as the index has it. */
export interface Candidate {
  readonly conversationId: string;
  readonly sourceId: string;
  readonly kind: PassageKind;
  readonly sequence: number | null;
  readonly toolName: string | null;
  /** With which the tool was called whose result it is; empty: with none. `null`: it is no result, or indexed before paths were. */
  readonly path: string | null;
  readonly offset: number;
  readonly text: string;
  /** Its tsvector, as Postgres writes it. */
  readonly vector: string;
  readonly words: number;
  readonly createdAt: Date;
  /** What its words and those around it are worth, as far as it was chosen by them. */
  readonly gathered: number;
}

/** A candidate with what speaks for it. */
export interface RankedCandidate extends Candidate {
  readonly score: number;
  readonly match: FoundPassage['match'];
  /** Said by somebody whom the query names. */
  readonly isSaidByAsked: boolean;
  /** Its sentence with most of the query's words is a question. */
  readonly asks: boolean;
  /** By words, where `score` is of words and meaning together. */
  readonly scoreByWords?: number;
  /** Terms of the query that it has itself. */
  readonly matched: readonly WeightedTerm[];
  /** The branch that it was said on, when its conversation goes on with another. */
  readonly leftBranch?: number;
  /** Of its conversation, where it names one. */
  readonly user?: string;
}

/** Whether one is to be shown rather than another that says the same: that of the active branch, then the newer. */
export function isPreferred(one: RankedCandidate, other: RankedCandidate): boolean {
  if (wasLeft(one) !== wasLeft(other)) return wasLeft(other);
  return one.createdAt > other.createdAt;
}

/** Whether they are of conversations of one user. Those that name none are taken for the agent's own user's. */
export function areOfOneUser(one: RankedCandidate, other: RankedCandidate): boolean {
  return one.user === other.user;
}

export function wasLeft({ leftBranch }: RankedCandidate): boolean {
  return leftBranch !== undefined;
}

/** Of a compaction or a branch: it repeats what was said elsewhere. */
export function isSummary({ kind }: Pick<Candidate, 'kind'>): boolean {
  return kind === 'summary' || kind === 'branch_summary';
}
