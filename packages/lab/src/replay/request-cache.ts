import type { ContentPart } from 'holdfast/internal/context/log/content.js';
import { estimateTokens, NO_CALIBRATION } from 'holdfast/internal/context/log/estimate.js';
import type { EntryOutline } from 'holdfast/internal/context/log/entry.js';
import {
  breakdownWindow,
  arrangeView,
  operationsByEntry,
  orderView,
} from 'holdfast/internal/context/view/view-arrangement.js';
import { measureContent } from 'holdfast/internal/context/log/measure.js';
import type { Operation, WindowBreakdown } from 'holdfast/internal/context/plan/plan.js';
import { shownStubs } from 'holdfast/internal/context/view/project-view.js';
import type { LabAgent } from './lab-agent.ts';
import { hasPass } from './replayed-conversation.ts';
import type { ReplayedConversation, ViewNow } from './replayed-conversation.ts';

/** A stretch of a request: the fixed part, the summary, or one entry as it is shown. */
export interface RequestPiece {
  /** `fixed`, `summary`, or the entry's id. */
  readonly name: string;
  /** Two pieces with the same key have the same bytes. */
  readonly key: string;
  readonly tokens: number;
}

/** Results that a request shows as stubs, by entry id. */
export type ShownStubs = ReadonlyMap<string, readonly ContentPart[]>;

/** Below this many tokens no vendor caches a prefix. */
const SMALLEST_PREFIX = 1_024;

/**
 * How much of each request a provider's prompt cache has already: the longest beginning that the
 * request before had too. Every call is taken to find it still there.
 */
export class RequestCache {
  private last: readonly RequestPiece[] = [];

  /** Tokens of the request that the cache has; remembers the request. */
  read(pieces: readonly RequestPiece[]): number {
    const cached = this.peek(pieces);
    this.last = pieces;
    return cached;
  }

  /** Tokens that the cache has of a request that is not made, but which another begins with. */
  peek(pieces: readonly RequestPiece[]): number {
    let cached = 0;
    for (const [index, piece] of pieces.entries()) {
      if (this.last[index]?.key !== piece.key) break;
      cached += piece.tokens;
    }
    return cached < SMALLEST_PREFIX ? 0 : cached;
  }
}

/** The request piece by piece, in the order in which `projectView` puts them: with named blocks the newest memories stand in front. */
export function requestPieces(
  agent: LabAgent,
  conversation: ReplayedConversation,
  view: ViewNow,
  stubs: ShownStubs,
): RequestPiece[] {
  const operations = operationsByEntry(view.operations);
  const arrangement = arrangeView(view);
  // Reasoning up to the newest compaction in force is gone.
  const compactedAt = hasPass(view)
    ? (view.entries.findLast(({ kind }) => kind === 'compaction')?.sequence ?? -Infinity)
    : -Infinity;
  const ofEntry = (entry: EntryOutline): RequestPiece => {
    const stub = stubs.get(entry.id);
    if (stub !== undefined) {
      const tokens = estimateTokens(measureContent(stub), NO_CALIBRATION);
      return { name: entry.id, key: `${entry.id} ${JSON.stringify(stub)}`, tokens };
    }
    const operation = operations.get(entry.id);
    const shown =
      operation === undefined ? '' : `${operation.kind} ${operation.headCharacters} ${operation.tailCharacters}`;
    const reasoning = entry.sequence > compactedAt && conversation.hasReasoning(entry.id) ? 'reasoning' : '';
    const tokens = estimateTokens(operation?.measurements ?? entry.measurements, NO_CALIBRATION);
    return { name: entry.id, key: `${entry.id} ${shown} ${reasoning}`, tokens };
  };
  const { rules } = arrangement;
  const isInFront = ({ slot }: EntryOutline): boolean => agent.view.namedBlocks === true && slot === 'memories';
  const memories = view.entries.findLast(isInFront);
  const parts = orderView(arrangement, view.summary);
  return [
    { name: 'fixed', key: agent.view.instructions, tokens: estimateTokens(agent.fixed, NO_CALIBRATION) },
    ...[rules, memories].flatMap((entry) => (entry == null ? [] : [ofEntry(entry)])),
    ...parts.flatMap((part) =>
      part === 'summary' ? ofSummary(view) : part.entries.filter((entry) => !isInFront(entry)).map(ofEntry),
    ),
  ];
}

function ofSummary({ summary }: ViewNow): RequestPiece[] {
  if (summary === null) return [];
  const tokens = estimateTokens(summary.measurements, NO_CALIBRATION);
  return [{ name: 'summary', key: `summary ${summary.compactionId}`, tokens }];
}

/** What of the request is shown as one line. Needs the originals, which are read only for a policy that has stubs. */
export async function stubsNow({ policy }: LabAgent, conversation: ReplayedConversation): Promise<ShownStubs> {
  return policy.requestStubs === null ? new Map() : shownStubs(await conversation.projectionInput());
}

/** What fills the request, kind by kind, with stubs as long as they are. */
export function breakdownRequest({ fixed, budget }: LabAgent, view: ViewNow, stubs: ShownStubs): WindowBreakdown {
  const shortened = [...stubs].map(([entryId, content]): Operation => {
    const measurements = measureContent(content);
    return { entryId, kind: 'clear', headCharacters: 0, tailCharacters: 0, measurements };
  });
  const operations = [...view.operations, ...shortened];
  return breakdownWindow({ ...view, fixed, operations, calibration: NO_CALIBRATION, budget });
}
