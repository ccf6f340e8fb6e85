import type { EntryOutline } from '../../../src/context/log/entry.ts';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';

/** What a replay holds after a compaction. */
interface Compacted {
  readonly entries: readonly EntryOutline[];
  readonly summary: { readonly firstKeptSequence: number } | null;
}

/** Share of the budget up to which the message that opened the running turn is short, and comes before all others. */
const SHORT_OPENING = 0.5;

/**
 * Which messages of the user must stand in the view word for word: all from the cut on, and of those before it the newest that
 * together fit into the policy's budget, up to the first that does not; a short message that opened the turn counts against it.
 * Told here in its own words, not by the product's rule, which may keep more: it goes on behind one that does not fit.
 */
export class ExpectedUserMessages {
  private kept: readonly number[] = [];
  private cut = 1;
  private readonly budget: number;

  /** @param budget tokens */
  constructor(budget: number) {
    this.budget = budget;
  }

  /** After a compaction. Returns the sequences of the messages. */
  after({ entries, summary }: Compacted): readonly number[] {
    const said = entries.filter(({ kind }) => kind === 'user');
    const cut = summary?.firstKeptSequence ?? 1;
    if (cut !== this.cut) {
      const running = entries.at(-1)?.turnId;
      this.kept = this.newestOf(
        said.filter(({ sequence }) => sequence < cut),
        running,
      );
      this.cut = cut;
    }
    const recent = said.filter(({ sequence }) => sequence >= cut).map(({ sequence }) => sequence);
    return [...this.kept, ...recent];
  }

  private newestOf(before: readonly EntryOutline[], running: string | undefined): readonly number[] {
    const first = before.find(({ turnId }) => turnId === running);
    const opening = first !== undefined && tokensOf(first) <= SHORT_OPENING * this.budget ? first : null;
    const kept = opening === null ? [] : [opening.sequence];
    let left = this.budget - (opening === null ? 0 : tokensOf(opening));
    for (const message of before.toReversed()) {
      if (message === opening) continue;
      left -= tokensOf(message);
      if (left < 0) break;
      kept.push(message.sequence);
    }
    return kept;
  }
}

function tokensOf({ measurements }: EntryOutline): number {
  return estimateTokens(measurements, NO_CALIBRATION);
}
