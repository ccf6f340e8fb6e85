import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useSend } from '../api/request.ts';
import type { Entry } from '../api/types.ts';
import { Failure } from '../text/failure.tsx';

interface EntryActionsProps {
  readonly conversationId: string;
  readonly entry: Entry;
}

/** Fork after an entry; of a message also: say it in other words, or have it answered again. */
export function EntryActions({ conversationId, entry: { entryId, kind, content } }: EntryActionsProps) {
  const [words, setWords] = useState<string | null>(null);
  const of = { conversationId, entryId };
  const send = useSend(words ?? '');
  const change = useMutation({
    mutationFn: (action: 'fork' | 'regenerate' | 'edit') => {
      if (action === 'edit') return send('/conversations/{conversationId}/edit', { ...of, content: words ?? '' });
      return send(`/conversations/{conversationId}/${action}`, of);
    },
    onSuccess: () => setWords(null),
  });
  const said = content.find((part) => part.type === 'text')?.text ?? '';
  const isUser = kind === 'user';
  return (
    <>
      <span className="actions">
        <button type="button" className="link" onClick={() => change.mutate('fork')} disabled={change.isPending}>
          Fork here
        </button>
        {isUser && (
          <button type="button" className="link" onClick={() => setWords(words === null ? said : null)}>
            Edit
          </button>
        )}
        {isUser && (
          <button
            type="button"
            className="link"
            onClick={() => change.mutate('regenerate')}
            disabled={change.isPending}
          >
            Answer again
          </button>
        )}
      </span>
      {words !== null && (
        <form
          className="edit"
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate('edit');
          }}
        >
          <textarea
            value={words}
            onChange={(event) => setWords(event.target.value)}
            rows={3}
            aria-label="Other words"
          />
          <button type="submit" className="main" disabled={change.isPending || words.trim() === ''}>
            Send on a branch of its own
          </button>
        </form>
      )}
      {change.error !== null && <Failure error={change.error} />}
    </>
  );
}
