import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer, useRef } from 'react';
import { follow } from '../api/follow.ts';
import { read } from '../api/request.ts';
import type { Conversation, Entry } from '../api/types.ts';
import { NOTHING_LIVE, takeUpdate } from './live.ts';
import type { Live } from './live.ts';

const PAGE = 100;
/** Events that a page begins with: enough to know what an open turn does. */
const EVENTS_BEFORE = 200;
const TOGETHER_MILLISECONDS = 120;
/** After an outage of the server. */
const AGAIN_MILLISECONDS = 2_000;

export interface Log {
  readonly entries: readonly Entry[];
  readonly hasEarlier: boolean;
  readonly readEarlier: () => void;
}

export interface FollowedConversation {
  readonly conversation: Conversation | undefined;
  readonly error: Error | null;
  readonly live: Live;
  readonly log: Log;
}

/** Events that add entries, or change which are shown. */
const ADDS_ENTRIES = new Set([
  'message_taken',
  'model_call_answered',
  'tool_call_finished',
  'compaction_committed',
  'note_added',
  'turn_ended',
]);

/** A conversation with its entries and what happens in it. */
export function useConversation(conversationId: string): FollowedConversation {
  const { data: conversation, error } = useQuery({
    queryKey: ['conversation', conversationId],
    queryFn: () => read('/conversations/{conversationId}', { conversationId }),
    refetchInterval: ({ state }) => (state.error === null ? false : AGAIN_MILLISECONDS),
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
    const takeEntries = soon(() => void readLater());
    void follow(
      conversationId,
      Math.max(0, from - EVENTS_BEFORE),
      (update) => {
        take(update);
        if (update.type !== 'event' || update.event.sequence <= from) return;
        refresh();
        if (ADDS_ENTRIES.has(update.event.kind)) takeEntries();
        // Another branch has other entries.
        if (update.event.kind === 'branch_changed')
          void queries.resetQueries({ queryKey: ['entries', conversationId] });
      },
      leaving.signal,
    );
    return () => leaving.abort();
  }, [conversationId, from, queries, readLater]);
  return { conversation, error, live, log };
}

function useLog(conversationId: string) {
  const { data, hasPreviousPage, fetchPreviousPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['entries', conversationId],
    initialPageParam: {},
    queryFn: ({ pageParam }) =>
      read('/conversations/{conversationId}/entries', { conversationId, limit: PAGE, ...pageParam }),
    getPreviousPageParam: (first) =>
      first.hasMore && first.items[0] !== undefined ? { beforeSequence: first.items[0].sequence } : undefined,
    getNextPageParam: (_, pages) => ({ afterSequence: pages.findLast(hasItems)?.items.at(-1)?.sequence ?? 0 }),
    staleTime: Infinity,
  });
  const entries = data?.pages.flatMap(({ items }) => items) ?? [];
  const log: Log = { entries, hasEarlier: hasPreviousPage, readEarlier: () => void fetchPreviousPage() };
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
