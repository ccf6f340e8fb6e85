import { memo } from 'react';
import type { Entry } from '../api/types.ts';
import { moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { CompactionCard } from './compaction-card.tsx';
import { EntryActions } from './entry-actions.tsx';
import { Parts } from './part.tsx';
import type { CallOfEntry } from './rows.ts';
import { ToolCallCard } from './tool-call.tsx';
import type { OpenOriginal } from './original.tsx';

export interface EntryRowProps {
  readonly conversationId: string;
  readonly entry: Entry;
  readonly open: OpenOriginal;
  readonly calls: readonly CallOfEntry[];
  /** No turn is open: branches may change. */
  readonly isIdle: boolean;
}

export const EntryRow = memo(function EntryRow(props: EntryRowProps) {
  const { conversationId, entry, calls, open, isIdle } = props;
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
      <header className="quiet row">
        <span>
          {SPEAKERS[kind]} <time dateTime={createdAt}>{moment(createdAt)}</time>
        </span>
        {isIdle && kind !== 'compaction' && <EntryActions conversationId={conversationId} entry={entry} />}
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
  if (before.isIdle !== after.isIdle) return false;
  return before.calls.every(({ result, waits }, place) => {
    const other = after.calls[place];
    return other?.result?.entryId === result?.entryId && other?.waits === waits;
  });
}
