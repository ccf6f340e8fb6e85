import { memo } from 'react';
import type { Entry, ToolCall, WaitingCall } from '../api/types.ts';
import { moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { CompactionCard } from './compaction-card.tsx';
import { Parts } from './part.tsx';
import { ToolCallCard } from './tool-call.tsx';

interface TimelineProps {
  readonly conversationId: string;
  readonly entries: readonly Entry[];
  readonly waitingCalls: readonly Pick<WaitingCall, 'call' | 'kind' | 'turnId'>[];
  /** A call without a result runs only in an open turn. */
  readonly openTurnId: string | null;
  /** Shows the original of an entry. */
  readonly open: (entryId: string) => void;
}

/** Entries in order, each tool result at its call. */
export function Timeline({ conversationId, entries, waitingCalls, openTurnId, open }: TimelineProps) {
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
      return <EntryRow key={entry.entryId} conversationId={conversationId} entry={entry} calls={calls} open={open} />;
    });
}

interface EntryRowProps {
  readonly conversationId: string;
  readonly entry: Entry;
  readonly open: (entryId: string) => void;
  readonly calls: readonly {
    readonly call: ToolCall;
    readonly result: Entry | undefined;
    readonly waits: string | null;
  }[];
}

const EntryRow = memo(function EntryRow({ conversationId, entry, calls, open }: EntryRowProps) {
  const { kind, sequence, slot, content, createdAt, compactionId } = entry;
  if (kind === 'note' || kind === 'branch_summary') {
    return (
      <article className="entry note" id={`entry-${sequence}`}>
        <details className="fold">
          <summary>{kind === 'note' ? `Note: ${printable(slot ?? '')}` : 'Summary of another branch'}</summary>
          <Parts content={content} />
        </details>
      </article>
    );
  }
  return (
    <article className={`entry ${kind}`} id={`entry-${sequence}`}>
      <header className="quiet">
        <span>{SPEAKERS[kind]}</span> <time dateTime={createdAt}>{moment(createdAt)}</time>
      </header>
      <Parts content={content} />
      {compactionId !== null && (
        <CompactionCard conversationId={conversationId} compactionId={compactionId} open={open} />
      )}
      {calls.map((each) => (
        <ToolCallCard key={each.call.index} open={open} {...each} />
      ))}
    </article>
  );
}, isUnchanged);

const SPEAKERS = { user: 'You', assistant: 'Agent', tool_result: 'Tool result', compaction: 'Compaction' } as const;

/** Entries never change; only what became of their calls does. */
function isUnchanged(before: EntryRowProps, after: EntryRowProps): boolean {
  return before.calls.every(({ result, waits }, place) => {
    const other = after.calls[place];
    return other?.result?.entryId === result?.entryId && other?.waits === waits;
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
