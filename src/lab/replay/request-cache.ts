import type { ContentPart } from '../../context/content.ts';
import { estimateTokens, NO_CALIBRATION } from '../../context/estimate.ts';
import type { EntryOutline } from '../../context/entry.ts';
import { measureContent } from '../../context/measure.ts';
import { shownStubs } from '../../context/project-view.ts';
import { arrangeView, operationsByEntry } from '../../context/view-arrangement.ts';
import { orderView } from '../../context/view-order.ts';
import type { LabAgent } from './lab-agent.ts';
import type { LabConversation } from './lab-conversation.ts';

/** A stretch of a request: the fixed part, the summary, or one entry as it is shown. */
export interface RequestPiece {
  /** `fixed`, `summary`, or the entry's id. */
  readonly name: string;
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
  private last: readonly RequestPiece[] = [];

  /** Tokens of the request that the cache has; remembers the request. */
  read(agent: LabAgent, conversation: LabConversation): number {
    const pieces = requestPieces(agent, conversation);
    let cached = 0;
    for (const [index, piece] of pieces.entries()) {
      if (this.last[index]?.key !== piece.key) break;
      cached += piece.tokens;
    }
    this.last = pieces;
    return cached < SMALLEST_PREFIX ? 0 : cached;
  }
}

/** The request piece by piece, in the order in which `projectView` puts them. A replay has no memories, which some presets move to the front. */
export function requestPieces(agent: LabAgent, conversation: LabConversation): RequestPiece[] {
  const view = conversation.measuredView(agent.fixed);
  const operations = operationsByEntry(view.operations);
  const arrangement = arrangeView({ ...view, operations });
  const stubs = stubsNow(agent, conversation);
  const ofEntry = (entry: EntryOutline): RequestPiece => {
    const stub = stubs.get(entry.id);
    if (stub !== undefined) {
      const tokens = estimateTokens(measureContent(stub), NO_CALIBRATION);
      return { name: entry.id, key: `${entry.id} ${JSON.stringify(stub)}`, tokens };
    }
    const operation = operations.get(entry.id);
    const shown =
      operation === undefined ? '' : `${operation.kind} ${operation.headCharacters} ${operation.tailCharacters}`;
    const reasoning = conversation.showsReasoning(entry) ? 'reasoning' : '';
    const tokens = estimateTokens(operation?.measurements ?? entry.measurements, NO_CALIBRATION);
    return { name: entry.id, key: `${entry.id} ${shown} ${reasoning}`, tokens };
  };
  const { rules } = arrangement;
  const parts = orderView(arrangement, view.summary);
  return [
    { name: 'fixed', key: 'fixed', tokens: estimateTokens(agent.fixed, NO_CALIBRATION) },
    ...(rules === null ? [] : [ofEntry(rules)]),
    ...parts.flatMap((part) => (part === 'summary' ? ofSummary(conversation) : part.entries.map(ofEntry))),
  ];
}

function ofSummary({ summary }: LabConversation): RequestPiece[] {
  if (summary === null) return [];
  const tokens = estimateTokens(summary.measurements, NO_CALIBRATION);
  return [{ name: 'summary', key: `summary ${summary.compactionId}`, tokens }];
}

/** Needs the originals, which are read only for a policy that has stubs. */
function stubsNow(agent: LabAgent, conversation: LabConversation): ReadonlyMap<string, readonly ContentPart[]> {
  const { requestStubs } = agent.policy;
  return requestStubs === undefined || requestStubs === null
    ? new Map()
    : shownStubs(conversation.projectionInput(agent));
}
