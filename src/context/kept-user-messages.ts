/**
 * Older user messages that stay word for word: the newest first, as long as they fit into the
 * budget. One that does not fit is passed over, so that a pasted log does not push out every short
 * request before it; the newest of all is named in any case, to be clipped if need be (R17).
 */
export function keptUserMessages(input: {
  /** Positions of user entries before the cut, oldest first. */
  readonly candidates: readonly number[];
  readonly tokensAt: (position: number) => number;
  /** Tokens. */
  readonly budget: number;
  /** A user message stands after the cut, so that none before it is the newest. */
  readonly newestIsKept: boolean;
}): readonly number[] {
  const kept: number[] = [];
  let tokens = 0;
  for (const [place, position] of input.candidates.toReversed().entries()) {
    const size = input.tokensAt(position);
    const isNewest = place === 0 && !input.newestIsKept;
    if (!isNewest && tokens + size > input.budget) continue;
    kept.push(position);
    tokens += size;
  }
  return kept.reverse();
}
