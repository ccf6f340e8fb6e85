import { isShortMessage } from './opening-message.ts';

/**
 * Older user messages that stay word for word: the newest first, up to the first that does not fit into the budget. What is older
 * than that one would stand behind the summary, which tells what it changed, and be believed as what was said last (measured where
 * such ones stayed: 3 % of changed facts after 5 compactions). A long one is passed over, so that a pasted log does not push out every
 * short request before it. The newest of all is named in any case, to be clipped if need be (R17).
 * A short one that opened the running turn comes before all newer ones, and stays whatever the budget.
 */
export function keptUserMessages(input: {
  /** Positions of user entries before the cut, oldest first. */
  readonly candidates: readonly number[];
  readonly tokensAt: (position: number) => number;
  /** Tokens that this pass has for them. */
  readonly budget: number;
  /** A user message stands after the cut, so that none before it is the newest. */
  readonly newestIsKept: boolean;
  /** Position of the short message that opened the running turn; `null` when it is no candidate. */
  readonly opening: number | null;
}): readonly number[] {
  const { opening } = input;
  const kept: number[] = opening === null ? [] : [opening];
  let tokens = opening === null ? 0 : input.tokensAt(opening);
  for (const [place, position] of input.candidates.toReversed().entries()) {
    if (position === opening) continue;
    const size = input.tokensAt(position);
    const isNewest = place === 0 && !input.newestIsKept;
    if (!isNewest && tokens + size > input.budget) {
      if (isShortMessage(size, input.budget)) break;
      continue;
    }
    kept.push(position);
    tokens += size;
  }
  return kept.sort((left, right) => left - right);
}
