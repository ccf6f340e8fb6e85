import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import { follow } from '../api/follow.ts';
import { read } from '../api/request.ts';
import type { Conversation, Entry, TimelineEvent } from '../api/types.ts';
import { SHOWN_EVENTS } from './event-line.ts';
import { NOTHING_LIVE, takeUpdate } from './live.ts';
import type { Live } from './live.ts';

const PAGE = 150;
/** Events of the timeline that are read at once, the newest. */
const SHOWN = 1_000;
/** Events that a page begins with: enough to know what an open turn does. */
const EVENTS_BEFORE = 200;
const TOGETHER_MILLISECONDS = 120;

export interface Log {
  readonly entries: readonly Entry[];
  readonly hasEarlier: boolean;
  readonly readEarlier: () => void;
  readonly error: Error | null;
}

export interface FollowedConversation {
  readonly conversation: Conversation | undefined;
  readonly error: Error | null;
  readonly live: Live;
  readonly log: Log;
  /** Those that the timeline shows, in order. */
  readonly events: readonly TimelineEvent[];
}

/** Events that add entries, or change which are shown. */
const ADDS_ENTRIES = new Set([
  'message_taken',
  'model_call_answered',
  'tool_call_finished',
  'compaction_committed',
  'note_added',
  'rules_changed',
  'turn_ended',
]);

/** A conversation with its entries and what happens in it. */
export function useConversation(conversationId: string): FollowedConversation {
  const { data: conversation, error } = useQuery({
    queryKey: ['conversation', conversationId],
    queryFn: () => read('/conversations/{conversationId}', { conversationId }),
  });
  const { log, readLater } = useLog(conversationId);
  const [live, take] = useReducer(takeUpdate, NOTHING_LIVE);
  const queries = useQueryClient();
  const known = conversation?.eventCount ?? null;
  const begin = useRef(known);
  begin.current ??= known;
  const from = begin.current;
  useEffect(() => {
    if (from === null) return undefined;
    const leaving = new AbortController();
    const refresh = soon(() => {
      void queries.invalidateQueries({ queryKey: ['conversation', conversationId] });
    });
    const takeEntries = soon(() => {
      void readLater();
      void queries.invalidateQueries({ queryKey: ['of-conversation', conversationId] });
    });
    void follow(
      conversationId,
      Math.max(0, from - EVENTS_BEFORE),
      (update) => {
        take(update);
        if (update.type !== 'event' || update.event.sequence <= from) return;
        refresh();
        if (ADDS_ENTRIES.has(update.event.kind)) takeEntries();
        // Another branch has other entries.
        if (update.event.kind === 'branch_changed') {
          void queries.resetQueries({ queryKey: ['entries', conversationId] });
          void queries.invalidateQueries({ queryKey: ['of-conversation', conversationId] });
        }
      },
      leaving.signal,
    );
    return () => leaving.abort();
  }, [conversationId, from, queries, readLater]);
  return { conversation, error, live, log, events: useShownEvents(conversationId, live) };
}

/** Those from before the page was opened, and those that came. */
function useShownEvents(conversationId: string, { events }: Live): readonly TimelineEvent[] {
  const { data } = useQuery({
    queryKey: ['events', conversationId],
    queryFn: () =>
      read('/conversations/{conversationId}/timeline', { conversationId, kinds: SHOWN_EVENTS, limit: SHOWN }),
    staleTime: Infinity,
  });
  return useMemo(() => {
    const past = data?.items ?? [];
    const last = past.at(-1)?.sequence ?? 0;
    return [...past, ...events.filter(({ kind, sequence }) => sequence > last && SHOWN_EVENTS.includes(kind))];
  }, [data, events]);
}

function useLog(conversationId: string) {
  const { data, error, hasPreviousPage, fetchPreviousPage, isFetchingPreviousPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['entries', conversationId],
    initialPageParam: {},
    queryFn: ({ pageParam }) =>
      read('/conversations/{conversationId}/entries', { conversationId, limit: PAGE, ...pageParam }),
    getPreviousPageParam: (first) =>
      first.hasMore && first.items[0] !== undefined ? { beforeSequence: first.items[0].sequence } : undefined,
    getNextPageParam: (_, pages) => ({ afterSequence: pages.findLast(hasItems)?.items.at(-1)?.sequence ?? 0 }),
    staleTime: Infinity,
  });
  const entries = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  const readEarlier = useCallback(() => {
    if (!isFetchingPreviousPage) void fetchPreviousPage();
  }, [fetchPreviousPage, isFetchingPreviousPage]);
  const log: Log = { entries, hasEarlier: hasPreviousPage, readEarlier, error };
  return { log, readLater: fetchNextPage };
}

function hasItems({ items }: { readonly items: readonly unknown[] }): boolean {
  return items.length > 0;
}

/** Joins calls that come close together into one after the last of them. */
function soon(work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, TOGETHER_MILLISECONDS);
  };
}
