/**
 * Characters of one tool result that are shown to a model with the given window (tokens).
 *
 * An eighth of the window at 3 characters a token: code and JSON measure about 3, prose 4 (facts of the
 * tokenizers), so an ordinary result takes an eighth of the window or less, and the parallel calls of one
 * answer rarely fill it at once. At least 2,000 characters, below which a page of code is no use; at most
 * 100,000 (25,000 to 33,000 tokens), because models find little in more, whatever their window.
 */
export function resultLimitFor(windowTokens: number): number {
  return Math.round(Math.min(Math.max((windowTokens / 8) * 3, 2_000), 100_000));
}
