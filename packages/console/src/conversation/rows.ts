import type { Entry, TimelineEvent, ToolCall, WaitingCall } from '../api/types.ts';
import { eventLine } from './event-line.ts';
import type { EventLine } from './event-line.ts';

/** A tool call with what became of it. */
export interface CallOfEntry {
  readonly call: ToolCall;
  readonly result: Entry | undefined;
  /** Shown instead of "running" while there is no result. */
  readonly waits: string | null;
}

export type Row =
  | {
      readonly key: string;
      readonly entry: Entry;
      readonly calls: readonly CallOfEntry[];
    }
  | {
      readonly key: string;
      readonly entry: null;
      readonly at: string;
      readonly line: EventLine;
      readonly times: number;
    };

interface RowsRequest {
  readonly entries: readonly Entry[];
  /** In order. */
  readonly events: readonly TimelineEvent[];
  /** Whether there are entries before those: their events are left out. */
  readonly hasEarlier: boolean;
  readonly waitingCalls: readonly Pick<WaitingCall, 'call' | 'kind' | 'turnId'>[];
  /** A call without a result runs only in an open turn. */
  readonly openTurnId: string | null;
}

/** Entries in order, each tool result at its call, with what happened between them. */
export function rowsOf(request: RowsRequest): Row[] {
  const { entries, events, hasEarlier } = request;
  const first = hasEarlier ? (entries[0]?.createdAt ?? '') : '';
  const waiting = events.filter(({ createdAt }) => createdAt >= first);
  const rows: Row[] = [];
  let next = 0;
  const takeEventsBefore = (time: string | null): void => {
    for (; next < waiting.length; next += 1) {
      const event = waiting[next];
      if (event === undefined || (time !== null && event.createdAt >= time)) return;
      addEvent(rows, event);
    }
  };
  for (const row of entryRows(request)) {
    takeEventsBefore(row.entry.createdAt);
    rows.push(row);
  }
  takeEventsBefore(null);
  return rows;
}

/** The same line again is counted and not repeated. */
function addEvent(rows: Row[], event: TimelineEvent): void {
  const line = eventLine(event);
  if (line === null) return;
  const last = rows.at(-1);
  if (last?.entry === null && last.line.text === line.text) rows[rows.length - 1] = { ...last, times: last.times + 1 };
  else rows.push({ key: `event ${event.sequence}`, entry: null, at: event.createdAt, line, times: 1 });
}

function entryRows({ entries, waitingCalls, openTurnId }: RowsRequest): Extract<Row, { entry: Entry }>[] {
  const results = new Map(entries.filter(isResult).map((entry) => [placeOf(entry, entry.callIndex), entry]));
  const asked = new Set(entries.filter(({ kind }) => kind === 'assistant').flatMap(placesOf));
  const waits = new Map(waitingCalls.map(({ call, kind, turnId }) => [`${turnId} ${ofTurn(call)}`, kind]));
  return entries
    .filter((entry) => !isResult(entry) || !asked.has(placeOf(entry, entry.callIndex)))
    .map((entry) => {
      const calls = callsOf(entry).map((call) => {
        const place = placeOf(entry, call.index);
        const running = entry.turnId === openTurnId ? null : 'not run';
        const kind = waits.get(place);
        const wait = kind === undefined ? running : kind === 'question' ? 'waits for an answer' : 'waits for approval';
        return { call, result: results.get(place), waits: wait };
      });
      return { key: entry.entryId, entry, calls };
    });
}

function isResult({ kind }: Entry): boolean {
  return kind === 'tool_result';
}

function callsOf({ content }: Entry): ToolCall[] {
  return content.filter((part) => part.type === 'tool_call');
}

function placesOf(entry: Entry): string[] {
  return callsOf(entry).map(({ index }) => placeOf(entry, index));
}

/** A call of the conversation: by turn, call number and index. */
function placeOf({ turnId, callNumber }: Entry, index: number | null): string {
  return `${turnId} ${callNumber}.${index}`;
}

/** `7.0` of `3.7.0`: without the number of the turn. */
function ofTurn(call: string): string {
  return call.slice(call.indexOf('.') + 1);
}
