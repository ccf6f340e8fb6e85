import { useQuery } from '@tanstack/react-query';
import { read } from '../api/request.ts';

const CALLS = 500;

/** What the charts of a conversation's window show; `undefined` until there is a call. */
export function useWindow(conversationId: string) {
  const of = ['of-conversation', conversationId];
  const { data: calls, error } = useQuery({
    queryKey: [...of, 'model-calls'],
    queryFn: () => read('/conversations/{conversationId}/model-calls', { conversationId, limit: CALLS }),
  });
  const { data: summaries } = useQuery({
    queryKey: [...of, 'summaries'],
    queryFn: () => read('/conversations/{conversationId}/summaries', { conversationId }),
  });
  const { data: context } = useQuery({
    queryKey: [...of, 'context'],
    queryFn: () => read('/conversations/{conversationId}/context', { conversationId }),
    enabled: calls !== undefined && calls.items.length > 0,
  });
  return { calls: calls?.items ?? [], summaries: summaries?.items ?? [], context, error };
}
