/** What an agent decided to answer, before ids, token limits and faults. */
export interface Draft {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
}

export type AnswerBlock =
  | { readonly kind: 'text'; readonly text: string }
  /** `proof` is what the vendor wants back with it, byte for byte. */
  | { readonly kind: 'thinking'; readonly text: string; readonly proof: string }
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly id: string; readonly name: string; readonly argumentsText: string };

export type StopCause = 'end' | 'tool_calls' | 'maximum_output' | 'refusal' | 'content_filter' | 'window_full';

/** An answer as every protocol can render it. */
export interface Answer {
  readonly blocks: readonly AnswerBlock[];
  readonly stop: StopCause;
}

/** Tokens as the vendor would bill them. `input` counts everything read, cached or not. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
}

/** One server-sent event. `tokens` paces the stream. */
export interface Frame {
  readonly event?: string;
  readonly data: unknown;
  readonly tokens: number;
}

const DELTA_CHARACTERS = 256;

/**
 * Cuts a text into the deltas of a stream, at least four for texts of four characters or more, so that no
 * reader can rely on one piece. Never cuts a surrogate pair.
 * @param longest characters of the longest delta
 */
export function cutIntoDeltas(text: string, longest = DELTA_CHARACTERS): string[] {
  const size = Math.max(1, Math.min(longest, Math.ceil(text.length / 4)));
  const deltas: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + size);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    deltas.push(text.slice(start, end));
    start = end;
  }
  return deltas;
}

export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
