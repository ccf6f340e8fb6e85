import type { Block, Message, SimulatorRequest } from '../core/request.ts';

/** A request's newest message, taken apart: the order of the caller, and what stands before it. */
export interface Order {
  readonly text: string;
  /** The messages without the order. */
  readonly before: readonly Message[];
}

const FRAMED = /<(?:transcript|conversation|messages|history|previous[-_]summary|part)\b/i;

/**
 * The newest text of the user, when the request ends with one. In a conversation that is shared, an order is the
 * last text block; where material is framed, all text of the message belongs together.
 */
export function findOrder(request: SimulatorRequest): Order | undefined {
  const last = request.messages.at(-1);
  if (last === undefined || last.role !== 'user') return undefined;
  const texts = last.blocks.flatMap((block) => (block.kind === 'text' ? [block] : []));
  const newest = texts.at(-1);
  if (newest === undefined) return undefined;
  const isFramed = texts.some((block) => FRAMED.test(block.text));
  const rest = last.blocks.filter((block): block is Block => (isFramed ? block.kind !== 'text' : block !== newest));
  const before = request.messages.slice(0, -1);
  return {
    text: isFramed ? texts.map((block) => block.text).join('\n') : newest.text,
    before: rest.length === 0 ? before : [...before, { role: 'user', blocks: rest }],
  };
}
