import { useQuery } from '@tanstack/react-query';
import { read } from './request.ts';

const LIVE_MILLISECONDS = 2_000;

/** Calls that wait for a person, in all conversations. */
export function useWaitingCalls() {
  return useQuery({
    queryKey: ['decisions'],
    queryFn: () => read('/decisions', { limit: 100 }),
    refetchInterval: LIVE_MILLISECONDS,
  });
}
