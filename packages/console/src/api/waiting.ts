import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { readLive } from './problem.ts';
import { read } from './request.ts';

const PAGE = 100;

/** The first calls that wait for a person, in all conversations. */
export function useWaitingCalls() {
  return useQuery({
    queryKey: ['decisions', 'waiting'],
    queryFn: () => read('/decisions', { limit: PAGE }),
    refetchInterval: ({ state }) => readLive(state.error),
  });
}

/** All of them page by page, the one that waits longest first. */
export function useWaitingPages() {
  const { data, ...list } = useInfiniteQuery({
    queryKey: ['decisions', 'waiting', 'pages'],
    initialPageParam: {},
    queryFn: ({ pageParam }) => read('/decisions', { limit: PAGE, ...pageParam }),
    getNextPageParam: ({ items, hasMore }) => {
      const last = items.at(-1);
      return hasMore && last !== undefined ? { after: `${last.conversationId}/${last.call}` } : undefined;
    },
    refetchInterval: ({ state }) => readLive(state.error, state.data?.pages.length),
  });
  return { ...list, calls: data?.pages.flatMap(({ items }) => items) ?? [] };
}
