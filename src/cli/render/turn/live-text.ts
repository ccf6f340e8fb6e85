import type { LiveTextUpdate } from '../../../client/types.ts';

/** What has been heard of the text that a model writes just now. */
export interface LiveText {
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  readonly text: LiveStream;
  readonly thinking: LiveStream;
  /** Arguments of tool calls, in the order of the answer as far as it is known. */
  readonly calls: ReadonlyMap<number, LiveToolCall>;
}

/** A tool call whose arguments are being written. */
interface LiveToolCall {
  readonly name: string;
  readonly arguments: LiveStream;
}

/** Text in pieces, of which some may be missing. */
interface LiveStream {
  /** With an ellipsis in the place of each gap. */
  readonly shown: string;
  /** Offset that the next piece has when nothing is missing. */
  readonly nextOffset: number;
}

const GAP = ' … ';
/** Characters kept: more than any screen holds; the whole text comes with its entry. */
const KEPT_CHARACTERS = 20_000;

const EMPTY: LiveStream = { shown: '', nextOffset: 0 };

/**
 * Adds a piece. A later call or a higher attempt supersedes what is there; a piece of an older one is
 * dropped; a piece beyond what was heard leaves an ellipsis.
 */
export function addLiveText(live: LiveText | null, update: LiveTextUpdate): LiveText {
  const order = live === null ? 1 : compare(update, live);
  if (live !== null && order < 0) return live;
  const base =
    live === null || order > 0
      ? {
          turnId: update.turnId,
          callNumber: update.callNumber,
          attempt: update.attempt,
          text: EMPTY,
          thinking: EMPTY,
          calls: new Map<number, LiveToolCall>(),
        }
      : live;
  if (update.kind !== 'tool_call') return { ...base, [update.kind]: addPiece(base[update.kind], update) };
  const { callIndex = 0, toolName = '' } = update;
  const written = addPiece(base.calls.get(callIndex)?.arguments ?? EMPTY, update);
  return { ...base, calls: new Map(base.calls).set(callIndex, { name: toolName, arguments: written }) };
}

function compare(update: LiveTextUpdate, live: LiveText): number {
  if (update.turnId !== live.turnId) return 1;
  if (update.callNumber !== live.callNumber) return update.callNumber - live.callNumber;
  return update.attempt - live.attempt;
}

function addPiece(stream: LiveStream, piece: { readonly offset: number; readonly text: string }): LiveStream {
  const known = stream.nextOffset - piece.offset;
  // Heard already, wholly or in part: a reader that reconnected.
  if (known >= piece.text.length) return stream;
  const added = known >= 0 ? piece.text.slice(known) : `${GAP}${piece.text}`;
  return {
    shown: (stream.shown + added).slice(-KEPT_CHARACTERS),
    nextOffset: piece.offset + piece.text.length,
  };
}
