import { createHash } from 'node:crypto';
import { readableEntryText } from 'holdfast/internal/store/log/entry-text.js';
import type { LabSession } from '../session/lab-session.ts';
import { FACT_KINDS, factsIn } from 'holdfast/internal/verify/audit/facts.js';
import type { FactKind } from 'holdfast/internal/verify/audit/facts.js';

/** A fact of the session with where it stands. */
export interface PooledFact {
  readonly kind: FactKind;
  readonly text: string;
  /** Positions of the entries that say it, ascending. */
  readonly sources: number[];
  /** What stands around it in the first of them, without itself: what somebody would remember who lost the fact. */
  readonly cue: string;
  /** Decided by the seed; samples take the lowest. */
  readonly rank: number;
}

/** Facts kept per kind: a sample is drawn from them, whatever part of the session it is about. */
const POOL_PER_KIND = 2_000;
/** Characters before and after a fact that make its cue. */
const CUE_CHARACTERS = 80;

/**
 * A pool of the session's facts, drawn by rank: rank comes from seed and text alone, so that every
 * replay of the session is asked for the same facts. Its size does not grow with the session.
 */
export function poolFacts(session: LabSession, seed: number): readonly PooledFact[] {
  const kinds = new Map<FactKind, KindPool>(FACT_KINDS.map((kind) => [kind, new KindPool()]));
  for (const [position, { kind: entryKind }] of session.entries.entries()) {
    const text = readableEntryText(session.content(position));
    for (const { kind, text: fact, offset } of factsIn(entryKind, text)) {
      kinds.get(kind)?.add(fact, position, () => ({
        kind,
        text: fact,
        sources: [position],
        cue: `${text.slice(Math.max(0, offset - CUE_CHARACTERS), offset)} ${text.slice(offset + fact.length, offset + fact.length + CUE_CHARACTERS)}`,
        rank: rankOf(seed, kind, fact),
      }));
    }
  }
  return [...kinds.values()].flatMap((pool) => pool.facts());
}

/** The facts of lowest rank of one kind. */
class KindPool {
  private readonly byText = new Map<string, PooledFact>();
  private highest = Infinity;

  add(text: string, position: number, create: () => PooledFact): void {
    const known = this.byText.get(text);
    if (known !== undefined) {
      if (known.sources.at(-1) !== position) known.sources.push(position);
      return;
    }
    const fact = create();
    if (fact.rank > this.highest) return;
    this.byText.set(text, fact);
    if (this.byText.size >= POOL_PER_KIND * 2) this.shrink();
  }

  facts(): readonly PooledFact[] {
    return [...this.byText.values()].sort((left, right) => left.rank - right.rank).slice(0, POOL_PER_KIND);
  }

  private shrink(): void {
    const kept = this.facts();
    this.highest = kept.at(-1)?.rank ?? Infinity;
    this.byText.clear();
    for (const fact of kept) this.byText.set(fact.text, fact);
  }
}

function rankOf(seed: number, kind: FactKind, text: string): number {
  return createHash('sha256').update(`${seed}\n${kind}\n${text}`).digest().readUIntBE(0, 6);
}

/** Facts that at least one of the entries says, the lowest ranks of each kind; kinds with few facts leave their room to none. */
export function sampleFacts(
  pool: readonly PooledFact[],
  isAsked: (position: number) => boolean,
  size: number,
): readonly PooledFact[] {
  const perKind = Math.max(1, Math.floor(size / FACT_KINDS.length));
  return FACT_KINDS.flatMap((kind) =>
    pool.filter((fact) => fact.kind === kind && fact.sources.some(isAsked)).slice(0, perKind),
  );
}
