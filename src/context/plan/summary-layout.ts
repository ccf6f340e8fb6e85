import { chooseCut, cutAtSequence, turnStartBefore, olderEntries } from './cut-point.ts';
import type { Draft, PlanningState } from './planning-state.ts';
import { QUOTE_TOKENS, quotingSection } from '../summary/check-summary.ts';
import { resolveAmount, SMALLEST_SUMMARY } from '../policy/budget.ts';
import type { SummaryFraming } from '../policy/policy.ts';
import { calibratedTokens } from '../log/estimate.ts';
import { showsMedia } from '../log/measurements.ts';
import { LEDGER_LINE_TOKENS, ledgerSize, measureSummary } from '../summary/summary-message.ts';
import { CARRIED_SLOTS } from '../view/view-arrangement.ts';

export interface Rooms {
  readonly summary: number;
  /** Of a split turn whose beginning gets a text of its own. */
  readonly turnPrefix: number;
  readonly tail: number;
  readonly userMessages: number;
}

export interface Layout {
  /** Sequence of the first entry that stays; that of the marker when it opens the view. */
  readonly cut: number;
  /** The same as a position; the table's length when nothing of it stays. */
  readonly from: number;
  /** Positions of messages that no summary covers yet and the cut drops, oldest first. */
  readonly dropped: readonly number[];
  /** Opening message of the turn whose beginning gets a summary of its own; `null` when none does. */
  readonly turnStart: number | null;
  readonly tail: readonly number[];
  readonly tailTokens: number;
  readonly older: readonly number[];
  readonly olderTokens: number;
  readonly quotedTokens: number;
}

/**
 * Places the cut.
 *
 * @param capped results beyond the policy's caps, shortened
 * @returns `null` when nothing would be dropped
 */
export function layOut(capped: Draft, rooms: Rooms): Layout | null {
  const { state } = capped;
  const { table, arrangement } = state;
  const place = cutPlace(capped, rooms);
  if (place === null) return null;
  const tail = arrangement.kept.slice(place);
  const [first] = tail;
  const from = first ?? afterNewest(state);
  const cut = from < table.length ? table.sequenceAt(from) : table.sequenceAt(from - 1) + 1;
  const dropped = droppedMessages(state, from);
  const isSeparate = state.input.policy.summary.turnPrefix !== null;
  const older = olderEntries(capped, {
    before: from,
    userBudget: rooms.userMessages,
    newestIsKept: state.input.turnIsOver === true || tail.some((position) => table.kindAt(position) === 'user'),
  });
  return {
    cut,
    from,
    dropped,
    turnStart: first === undefined || !isSeparate ? null : turnStartBefore(table, dropped, first),
    tail,
    tailTokens: capped.sum(tail),
    older,
    olderTokens: capped.sum(older),
    quotedTokens: quotedTokens(state, from),
  };
}

/**
 * What the quoted user messages may take in a summary that covers everything before a cut. Tokens.
 *
 * @param before position of the cut
 */
function quotedTokens({ input, table, storedTokens }: PlanningState, before: number): number {
  const { policy, budget, summary } = input;
  if (policy.summary.quotedMessages === null || quotingSection(policy) === undefined) return 0;
  const limit = resolveAmount(policy.summary.quotedMessages, budget);
  // Those that an earlier summary quotes are counted with all they may take.
  if (summary !== null) return limit;
  let whole = 0;
  for (let position = 0; position < before; position += 1) {
    if (table.kindAt(position) === 'user') whole += (storedTokens[position] ?? 0) + QUOTE_TOKENS;
  }
  return Math.min(limit, whole);
}

function cutPlace(capped: Draft, rooms: Rooms): number | null {
  const { state } = capped;
  const { table, arrangement } = state;
  const { policy, keepFrom } = state.input;
  const kept = { kept: arrangement.kept, table };
  if (keepFrom !== undefined) return cutAtSequence(kept, keepFrom);
  if (policy.keep.pivot) return pivotPlace(state);
  return chooseCut({
    ...kept,
    tokensAt: (position) => Math.ceil(capped.countedTokens(position)),
    tailBudget: rooms.tail,
    keep: policy.keep,
  });
}

/**
 * After everything; a user message that nobody has answered stays, and so do results with media that no request has carried:
 * no summary can tell what is on them. After an overflow they may be what was too much (O28).
 */
function pivotPlace({ table, arrangement: { kept }, input, seenThrough }: PlanningState): number | null {
  if (kept.every((position) => table.kindAt(position) === 'note')) return null;
  const answer = kept.indexOf(seenThrough);
  const bringsMedia = (position: number): boolean =>
    table.kindAt(position) === 'tool_result' && showsMedia(table.at(position).measurements);
  const mayStay = answer !== -1 && input.reason !== 'overflow';
  if (mayStay && kept.slice(answer).some(bringsMedia)) return answer;
  const newest = kept.findLastIndex((position) => !['note', 'tool_result'].includes(table.kindAt(position)));
  return newest !== -1 && table.kindAt(kept[newest] ?? 0) === 'user' ? newest : kept.length;
}

/** Where the marker stands that is appended with the plan; one without effect from a weaker form is taken over. */
function afterNewest({ table }: PlanningState): number {
  const newest = table.length - 1;
  return table.kindAt(newest) === 'compaction' ? newest : newest + 1;
}

function droppedMessages(state: PlanningState, end: number): readonly number[] {
  const dropped: number[] = [];
  const { summary } = state.input;
  // What a summary covers and the view shows beside it is dropped like all else.
  const covered = summary === null ? 0 : Math.min(summary.coveredThroughSequence, summary.firstKeptSequence - 1);
  // All its room at once, as in `arrangePositions`.
  dropped.length = end;
  let count = 0;
  for (let position = 0; position < end; position += 1) {
    const kind = state.table.kindAt(position);
    if (kind === 'note' || kind === 'compaction' || state.table.sequenceAt(position) <= covered) continue;
    dropped[count] = position;
    count += 1;
  }
  dropped.length = count;
  return dropped;
}

/** Where not all fit, what the user said stays whole up to this share of the room; of what is left the summary gets this one. */
const USER_SHARE = 0.7;
const SUMMARY_SHARE = 0.4;
/**
 * A summary that is written anew in less room than the one before leaves out what only that one held. So long as it takes no more than
 * this share of the room, the tail yields instead.
 */
const LARGEST_SHARE_OF_SUMMARY = 0.7;
/** What has been done since the summary before takes this much more, as a share of it. */
const GROWTH_OF_SUMMARY = 0.25;

interface ScarceRoom {
  /** What the texts of the summary want, in tokens. */
  readonly texts: number;
  /** What the user's messages take that are to stay. */
  readonly older: number;
  /** For all of them. */
  readonly room: number;
  /** For all of them when the summary would else say less than the one before. */
  readonly most: number;
  /** What the text of the summary before takes; 0: it is not written anew. */
  readonly earlier: number;
}

/** Rooms of a pass that has too little for all of them, in tokens. */
export function scarceRooms(rooms: Rooms, { texts, older, room, most, earlier }: ScarceRoom): Rooms {
  const said = Math.min(older, room * USER_SHARE);
  const grown = Math.min(earlier * (1 + GROWTH_OF_SUMMARY), (most - said) * LARGEST_SHARE_OF_SUMMARY);
  const given = Math.max(SMALLEST_SUMMARY, (room - said) * SUMMARY_SHARE, grown);
  const share = Math.min(1, given / texts);
  return {
    summary: rooms.summary * share,
    turnPrefix: rooms.turnPrefix * share,
    tail: Math.min(rooms.tail, Math.max(0, room - said - texts * share)),
    userMessages: older <= said ? rooms.userMessages : said,
  };
}

/** The words around a summary. */
export function frameTokens({ input }: PlanningState, framing: SummaryFraming): number {
  return calibratedTokens(measureSummary('', input.policy.summary.question, framing), input.calibration);
}

/** The entry that the words around a summary name, when the agent can open it and the summary has such words. */
export function idToOpen({ input, table }: PlanningState, position: number): string | null {
  return input.recall === true && input.policy.summary.question === null ? table.at(position).id : null;
}

/**
 * Sequence of the newest entry that stands before a summary; 0: none.
 *
 * @param older positions of what stays from before the cut
 */
export function lastBeforeSummary({ input, table }: PlanningState, older: readonly number[], cut: number): number {
  const [oldest] = older;
  switch (input.policy.summary.placement) {
    case 'first':
      return 0;
    case 'after_first_message':
      return oldest !== undefined && table.kindAt(oldest) === 'user' ? table.sequenceAt(oldest) : 0;
    case 'after_user_messages':
      // Those that stood there at the compaction before: the cache of the provider has them.
      return Math.min(input.summary?.coveredThroughSequence ?? 0, cut - 1);
    case 'end':
      return table.sequenceAt(table.length - 1);
  }
}

/** What the list of results may take; not more than there can be results. */
export function ledgerTokens({ input, table, summaryTokens }: PlanningState): number {
  const size = ledgerSize(input.budget);
  // Those of earlier passes stand below the summary in force.
  if (summaryTokens > 0) return size;
  let tokens = 0;
  for (let position = 0; position < table.length && tokens < size; position += 1) {
    if (table.kindAt(position) === 'tool_result') tokens += LEDGER_LINE_TOKENS;
  }
  return Math.min(tokens, size);
}

/** The notes before a position that are carried over the cut. */
export function carriedNotes({ table, notes }: PlanningState, before: number): readonly number[] {
  const earlier = notes.filter((note) => note < before);
  return CARRIED_SLOTS.flatMap((slot) => earlier.findLast((note) => table.at(note).slot === slot) ?? []);
}
