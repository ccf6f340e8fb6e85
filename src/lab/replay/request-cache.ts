import { estimateTokens, NO_CALIBRATION } from '../../context/estimate.ts';
import type { EntryOutline } from '../../context/entry.ts';
import { arrangeView, operationsByEntry } from '../../context/view-arrangement.ts';
import type { LabAgent } from './lab-agent.ts';
import type { LabConversation } from './lab-conversation.ts';

interface Piece {
  /** Two pieces with the same key have the same bytes. */
  readonly key: string;
  readonly tokens: number;
}

/** Below this many tokens no vendor caches a prefix. */
const SMALLEST_PREFIX = 1_024;

/**
 * How much of each request a provider's prompt cache has already: the longest beginning that the
 * request before had too. Every call is taken to find it still there.
 */
export class RequestCache {
  private last: readonly Piece[] = [];

  /** Tokens of the request that the cache has; remembers the request. */
  read(agent: LabAgent, conversation: LabConversation): number {
    const pieces = piecesOf(agent, conversation);
    let cached = 0;
    for (const [index, piece] of pieces.entries()) {
      if (this.last[index]?.key !== piece.key) break;
      cached += piece.tokens;
    }
    this.last = pieces;
    return cached < SMALLEST_PREFIX ? 0 : cached;
  }
}

/** In the order of `projectView`. */
function piecesOf(agent: LabAgent, conversation: LabConversation): Piece[] {
  const view = conversation.measuredView(agent.fixed);
  const operations = operationsByEntry(view.operations);
  const { rules, carriedNotes, olderUserMessages, kept } = arrangeView({ ...view, operations });
  const piece = (entry: EntryOutline): Piece => {
    const operation = operations.get(entry.id);
    const shown =
      operation === undefined ? '' : `${operation.kind} ${operation.headCharacters} ${operation.tailCharacters}`;
    const reasoning = conversation.showsReasoning(entry) ? 'reasoning' : '';
    const tokens = estimateTokens(operation?.measurements ?? entry.measurements, NO_CALIBRATION);
    return { key: `${entry.id} ${shown} ${reasoning}`, tokens };
  };
  const { summary } = conversation;
  const ofSummary: Piece[] =
    summary === null
      ? []
      : [
          {
            key: `summary ${summary.compactionId}`,
            tokens: estimateTokens(summary.measurements, NO_CALIBRATION),
          },
        ];
  return [
    { key: 'fixed', tokens: estimateTokens(agent.fixed, NO_CALIBRATION) },
    ...(rules === null ? [] : [piece(rules)]),
    ...ofSummary,
    ...[...carriedNotes, ...olderUserMessages, ...kept].map(piece),
  ];
}
