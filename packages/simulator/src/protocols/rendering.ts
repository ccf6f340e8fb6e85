import type { Answer, Frame, Usage } from '../core/answer.ts';
import type { Random } from '../core/random.ts';
import type { SimulatorRequest } from '../core/request.ts';

/** All that a protocol needs to put an answer on the wire. */
export interface Rendering {
  readonly request: SimulatorRequest;
  readonly answer: Answer;
  readonly usage: Usage;
  readonly random: Random;
  /** Characters of the longest delta of a stream. */
  readonly deltaCharacters: number;
}

export interface ProtocolRenderer {
  /** The body of an answer that is not streamed. */
  readonly body: (rendering: Rendering) => object;
  /** The events of a streamed answer. */
  readonly frames: (rendering: Rendering) => Iterable<Frame>;
  /** The vendor's own end marker after the last event. */
  readonly trailer: string;
  /** How the vendor reports an error after the stream began. */
  readonly errorFrame: (status: number, message: string) => Frame;
}

/** Characters that make about one token, to pace a stream. */
export const CHARACTERS_PER_TOKEN = 4;

export function tokensOfDelta(delta: string): number {
  return Math.max(1, Math.round(delta.length / CHARACTERS_PER_TOKEN));
}
