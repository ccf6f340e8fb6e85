import { useQuery } from '@tanstack/react-query';
import type { Configured } from '../../../../src/server/configured.ts';
import { reach } from './request.ts';

/** What the server's configuration offers: agents, and links to other pages. It does not change while the server runs. */
export function useConfigured<Name extends 'agents' | 'links'>(name: Name): Configured[Name] | undefined {
  const { data } = useQuery({
    queryKey: ['configured', name],
    queryFn: async (): Promise<{ readonly items: Configured[Name] }> => (await reach(`/v1/${name}`, {})).json(),
    staleTime: Infinity,
  });
  return data?.items;
}
