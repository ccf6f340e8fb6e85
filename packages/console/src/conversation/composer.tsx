import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyboardEvent } from 'react';
import { send } from '../api/request.ts';
import type { Conversation } from '../api/types.ts';
import { Failure } from '../text/failure.tsx';
import { isOpen } from '../text/turn-state.ts';

/** Sends messages, and stops the open turn. */
export function Composer({ conversation }: { readonly conversation: Conversation }) {
  const { conversationId, turn } = conversation;
  const [text, setText] = useState('');
  const [mode, setMode] = useState('steer');
  const message = useMutation({
    mutationFn: (content: string) =>
      send('/conversations/{conversationId}/messages', { conversationId, content, mode }),
    onSuccess: () => setText(''),
  });
  const stop = useMutation({ mutationFn: () => send('/conversations/{conversationId}/stop', { conversationId }) });
  const canSend = text.trim() !== '' && !message.isPending;
  const submit = (): void => {
    if (canSend) message.mutate(text);
  };
  const error = message.error ?? stop.error;
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {error !== null && <Failure error={error} />}
      <textarea
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => isSubmit(event) && submit()}
        rows={2}
        placeholder={isOpen(turn) ? 'Steer the turn' : 'Next message'}
        aria-label="Message"
      />
      <div className="row">
        <button type="submit" className="main" disabled={!canSend}>
          Send
        </button>
        {isOpen(turn) && (
          <button type="button" onClick={() => stop.mutate()} disabled={stop.isPending}>
            Stop
          </button>
        )}
        {isOpen(turn) && (
          <select value={mode} onChange={(event) => setMode(event.target.value)} aria-label="When it enters">
            <option value="steer">at the next step</option>
            <option value="queue">in the next turn</option>
          </select>
        )}
        <span className="quiet">Ctrl+Enter sends</span>
      </div>
    </form>
  );
}

function isSubmit({ key, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return key === 'Enter' && (ctrlKey || metaKey);
}
