import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import { follow } from '../api/follow.ts';
import { pause } from '../api/problem.ts';
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
/** Between two readings of the same, so that a busy conversation leaves a key requests for other pages. */
const REST_MILLISECONDS = 1_000;
const PANEL_REST_MILLISECONDS = 2_000;

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

/** What the cards and the panel read, by the events that change it. */
const CHANGED_BY: Readonly<Record<string, readonly string[]>> = {
  rules_changed: ['pins'],
  compaction_committed: ['summaries', 'lineage'],
  turn_ended: ['branches'],
  branch_changed: ['branches', 'pins', 'summaries', 'lineage', 'model-calls', 'context'],
};

/** A conversation with its entries and what happens in it. */
export function useConversation(conversationId: string): FollowedConversation {
  const { data: conversation, error } = useQuery({
    queryKey: ['conversation', conversationId],
    queryFn: () => read('/conversations/{conversationId}', { conversationId }),
  });
  const log = useLog(conversationId);
  const [live, take] = useReducer(takeUpdate, NOTHING_LIVE);
  const queries = useQueryClient();
  const known = conversation?.eventCount ?? null;
  const begin = useRef(known);
  begin.current ??= known;
  const from = begin.current;
  useEffect(() => {
    if (from === null) return undefined;
    const leaving = new AbortController();
    const readWhatChanged = readerOfChanges(queries, conversationId);
    void follow(
      conversationId,
      Math.max(0, from - EVENTS_BEFORE),
      (update) => {
        take(update);
        if (update.type === 'event' && update.event.sequence > from) readWhatChanged(update.event);
      },
      leaving.signal,
    );
    return () => leaving.abort();
  }, [conversationId, from, queries]);
  return { conversation, error, live, log, events: useShownEvents(conversationId, live) };
}

/** Reads again what an event says has changed. */
function readerOfChanges(queries: QueryClient, conversationId: string): (event: TimelineEvent) => void {
  const refresh = paced(
    () => queries.invalidateQueries({ queryKey: ['conversation', conversationId] }),
    REST_MILLISECONDS,
  );
  const takeEntries = paced(
    () => queries.invalidateQueries({ queryKey: ['later-entries', conversationId] }),
    REST_MILLISECONDS,
  );
  const changed = new Set<string>();
  const takeChanged = paced(async () => {
    const names = [...changed];
    changed.clear();
    const of = names.map((name) => ['of-conversation', conversationId, name]);
    await Promise.all(of.map((queryKey) => queries.invalidateQueries({ queryKey })));
  }, PANEL_REST_MILLISECONDS);
  return ({ kind }) => {
    refresh();
    // Another branch has other entries.
    if (kind === 'branch_changed') {
      for (const name of ['entries', 'later-entries']) void queries.resetQueries({ queryKey: [name, conversationId] });
    }
    const names = [...(CHANGED_BY[kind] ?? []), ...(ADDS_ENTRIES.has(kind) ? ['model-calls', 'context'] : [])];
    if (ADDS_ENTRIES.has(kind)) takeEntries();
    if (names.length === 0) return;
    for (const name of names) changed.add(name);
    takeChanged();
  };
}

/** Those from before the page was opened, and those that came. */
function useShownEvents(conversationId: string, { events }: Live): readonly TimelineEvent[] {
  const { data } = useQuery({
    queryKey: ['events', conversationId],
    queryFn: () =>
      read('/conversations/{conversationId}/timeline', { conversationId, kinds: SHOWN_EVENTS, limit: SHOWN }),
  });
  return useMemo(() => {
    const past = data?.items ?? [];
    const last = past.at(-1)?.sequence ?? 0;
    return [...past, ...events.filter(({ kind, sequence }) => sequence > last && SHOWN_EVENTS.includes(kind))];
  }, [data, events]);
}

/** Entries in order: those that the page began with, earlier ones page by page, and those that came since. */
function useLog(conversationId: string): Log {
  const { data, error, hasPreviousPage, fetchPreviousPage, isFetchingPreviousPage } = useInfiniteQuery({
    queryKey: ['entries', conversationId],
    initialPageParam: {},
    queryFn: ({ pageParam }) => readEntries(conversationId, pageParam),
    getPreviousPageParam: (first) =>
      first.hasMore && first.items[0] !== undefined ? { beforeSequence: first.items[0].sequence } : undefined,
    // Where the pages are read again: each goes on from the one before.
    getNextPageParam: ({ items }) => ({ afterSequence: items.at(-1)?.sequence ?? 0 }),
    staleTime: Infinity,
  });
  // Entries never change, so only what follows the newest one is read. In a query of its own: two that fetch pages of one query
  // at the same time cancel each other.
  const { data: later = NO_ENTRIES, error: laterError } = useQuery({
    queryKey: ['later-entries', conversationId, data?.pages.at(-1)?.items.at(-1)?.sequence ?? 0],
    queryFn: async ({ client, queryKey }) => {
      const entries = [...(client.getQueryData<readonly Entry[]>(queryKey) ?? NO_ENTRIES)];
      for (;;) {
        const afterSequence = entries.at(-1)?.sequence ?? Number(queryKey[2]);
        const { items, hasMore } = await readEntries(conversationId, { afterSequence });
        entries.push(...items);
        if (!hasMore) return entries;
      }
    },
    enabled: data !== undefined,
  });
  const entries = useMemo(() => [...(data?.pages.flatMap(({ items }) => items) ?? []), ...later], [data, later]);
  const readEarlier = useCallback(() => {
    // After a failure the query itself reads again, at its pace.
    if (!isFetchingPreviousPage && error === null) void fetchPreviousPage();
  }, [fetchPreviousPage, isFetchingPreviousPage, error]);
  return { entries, hasEarlier: hasPreviousPage, readEarlier, error: error ?? laterError };
}

const NO_ENTRIES: readonly Entry[] = [];

function readEntries(
  conversationId: string,
  from: { readonly beforeSequence?: number; readonly afterSequence?: number },
) {
  return read('/conversations/{conversationId}/entries', { conversationId, limit: PAGE, ...from });
}

/** Joins calls into one soon after the first of them, and begins none before the last is answered and `rest` is over. */
function paced(work: () => Promise<unknown>, rest: number): () => void {
  let isWanted = false;
  let isBusy = false;
  const run = async (): Promise<void> => {
    isBusy = true;
    while (isWanted) {
      await pause(TOGETHER_MILLISECONDS);
      isWanted = false;
      await work();
      await pause(rest);
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void run();
  };
}
