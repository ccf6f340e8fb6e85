import type { Piece, SimulatorRequest } from './request.ts';
import type { Usage } from './answer.ts';
import { NewestValues } from './newest-values.ts';
import { digestOf, type TokenCounter } from './token-counter.ts';

/** A place in the prompt: the digest of everything before it and the tokens up to it. */
export interface PromptPosition {
  readonly digest: string;
  readonly tokens: number;
  readonly cacheMark?: Piece['cacheMark'];
}

/** Tokens of framing that a vendor adds to each request. */
const REQUEST_OVERHEAD = 3;

/** Below this many tokens neither vendor caches a prefix (Anthropic's Sonnet class and OpenAI alike). */
const MINIMUM_PREFIX_TOKENS = 1024;

/** From a breakpoint, Anthropic looks for an earlier cached prefix at most this many blocks back. */
const LOOKBACK_BLOCKS = 20;

/** OpenAI reports cached tokens in steps of this size. */
const OPENAI_STEP_TOKENS = 128;

const LIFETIME_MILLISECONDS = { '5m': 300_000, '1h': 3_600_000 };

/** Counts the prompt piece by piece. The last position holds the whole input. */
export function measurePrompt(request: SimulatorRequest, counter: TokenCounter): readonly PromptPosition[] {
  let digest = request.model.id;
  let tokens = REQUEST_OVERHEAD;
  return request.pieces.map((piece) => {
    const content = digestOf(piece.text);
    digest = digestOf(digest, content, String(piece.extraTokens));
    tokens += counter.count(piece.text, content) + piece.extraTokens;
    return piece.cacheMark === undefined ? { digest, tokens } : { digest, tokens, cacheMark: piece.cacheMark };
  });
}

/** Remembers which prompt prefixes were seen, and answers what a vendor would bill for. */
export class PrefixCache {
  /** Time at which the prefix expires, by digest. */
  readonly #prefixes = new NewestValues(200_000);
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Usage of one request's input; remembers its prefixes for the next. */
  use(request: SimulatorRequest, positions: readonly PromptPosition[]): Omit<Usage, 'output'> {
    const input = positions.at(-1)?.tokens ?? 0;
    const read = request.protocol === 'anthropic' ? this.#readMarked(positions) : this.#readAutomatic(positions);
    return { input, ...read };
  }

  #readMarked(positions: readonly PromptPosition[]): Omit<Usage, 'output' | 'input'> {
    const marked = positions.flatMap((position, index) => (position.cacheMark === undefined ? [] : [index]));
    let cacheRead = 0;
    for (const index of marked) {
      for (let back = index; back >= Math.max(0, index - LOOKBACK_BLOCKS); back -= 1) {
        const position = positions[back];
        if (position === undefined || !this.#isFresh(position.digest)) continue;
        cacheRead = Math.max(cacheRead, position.tokens);
        break;
      }
    }
    const written = { '5m': 0, '1h': 0 };
    let covered = cacheRead;
    for (const index of marked) {
      const position = positions[index];
      if (position?.cacheMark === undefined || position.tokens < MINIMUM_PREFIX_TOKENS) continue;
      written[position.cacheMark] += Math.max(0, position.tokens - covered);
      covered = Math.max(covered, position.tokens);
      this.#remember(position.digest, LIFETIME_MILLISECONDS[position.cacheMark]);
    }
    return { cacheRead, cacheWrite5m: written['5m'], cacheWrite1h: written['1h'] };
  }

  #readAutomatic(positions: readonly PromptPosition[]): Omit<Usage, 'output' | 'input'> {
    const known = positions.findLast((position) => this.#isFresh(position.digest))?.tokens ?? 0;
    const cacheRead = known < MINIMUM_PREFIX_TOKENS ? 0 : known - (known % OPENAI_STEP_TOKENS);
    const input = positions.at(-1)?.tokens ?? 0;
    for (const position of positions) this.#remember(position.digest, LIFETIME_MILLISECONDS['5m']);
    return { cacheRead, cacheWrite5m: input < MINIMUM_PREFIX_TOKENS ? 0 : input - cacheRead, cacheWrite1h: 0 };
  }

  #isFresh(digest: string): boolean {
    return (this.#prefixes.get(digest) ?? 0) > this.#now();
  }

  #remember(digest: string, lifetime: number): void {
    this.#prefixes.set(digest, Math.max(this.#prefixes.get(digest) ?? 0, this.#now() + lifetime));
  }
}
