import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useSend } from '../api/request.ts';
import { CommandForm } from './command-form.tsx';

/** Compacts the context. */
export function Compact({ conversationId }: { readonly conversationId: string }) {
  const [focus, setFocus] = useState('');
  const send = useSend(focus);
  const compact = useMutation({
    mutationFn: () =>
      send('/conversations/{conversationId}/compact', { conversationId, ...(focus !== '' && { focus }) }),
    onSuccess: () => setFocus(''),
  });
  return (
    <CommandForm label="Compact" isPending={compact.isPending} error={compact.error} submit={() => compact.mutate()}>
      <input
        value={focus}
        onChange={(event) => setFocus(event.target.value)}
        placeholder="Focus, or nothing"
        aria-label="Focus of the summary"
      />
    </CommandForm>
  );
}
