import { useQuery } from '@tanstack/react-query';
import { readLive } from './problem.ts';
import { read } from './request.ts';

export const WAITING_PAGE = 100;

/** Calls that wait for a person, in all conversations, the one that waits longest first. */
export function useWaitingCalls(limit = WAITING_PAGE) {
  return useQuery({
    queryKey: ['decisions', 'waiting', limit],
    queryFn: () => read('/decisions', { limit }),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => readLive(state.error),
  });
}
