import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { read } from '../api/request.ts';
import type { ModelCall } from '../api/types.ts';

const PAGE = 500;

/** What the charts of a conversation's window show; `undefined` until there is a call. */
export function useWindow(conversationId: string) {
  const of = ['of-conversation', conversationId];
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [...of, 'model-calls'],
    initialPageParam: {},
    queryFn: ({ pageParam }) =>
      read('/conversations/{conversationId}/model-calls', { conversationId, limit: PAGE, ...pageParam }),
    // A refetch begins with the newest page and goes on from there, so earlier calls are its next pages.
    getNextPageParam: ({ items: [first], hasMore }) =>
      hasMore && first !== undefined ? { before: nameOfCall(first) } : undefined,
  });
  const calls = data?.pages.toReversed().flatMap(({ items }) => items) ?? [];
  const { data: summaries } = useQuery({
    queryKey: [...of, 'summaries'],
    queryFn: () => read('/conversations/{conversationId}/summaries', { conversationId }),
  });
  const { data: context } = useQuery({
    queryKey: [...of, 'context'],
    queryFn: () => read('/conversations/{conversationId}/context', { conversationId }),
    enabled: calls.length > 0,
  });
  const readEarlier = (): void => {
    if (!isFetchingNextPage) void fetchNextPage();
  };
  return { calls, summaries: summaries?.items ?? [], context, error, hasEarlier: hasNextPage, readEarlier };
}

/** As addresses and cursors write it. */
export function nameOfCall({ turn, callNumber, attempt }: Pick<ModelCall, 'turn' | 'callNumber' | 'attempt'>): string {
  return `${turn}.${callNumber}.${attempt}`;
}
