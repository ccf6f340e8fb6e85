import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyboardEvent } from 'react';
import { withFiles } from '../api/attachments.ts';
import { useSend } from '../api/request.ts';
import type { Conversation } from '../api/types.ts';
import { Attach } from '../text/attach.tsx';
import { Failure } from '../text/failure.tsx';
import { isOpen } from '../text/turn-state.ts';

/** Id of the field that a message is written in. */
const COMPOSER = 'composer';

/** Takes the focus past the timeline. */
export function SkipToComposer() {
  return (
    <button type="button" className="skip" onClick={() => document.querySelector<HTMLElement>(`#${COMPOSER}`)?.focus()}>
      Write a message
    </button>
  );
}

/** Sends messages, and stops the open turn. */
export function Composer({ conversation }: { readonly conversation: Conversation }) {
  const { conversationId, turn } = conversation;
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [mode, setMode] = useState('steer');
  const queries = useQueryClient();
  const send = useSend(text);
  const message = useMutation({
    mutationFn: async () => {
      const content = await withFiles(text, files);
      return send('/conversations/{conversationId}/messages', { conversationId, content, mode });
    },
    onSuccess: () => {
      setText('');
      setFiles([]);
      // No event tells that a message waits.
      return queries.invalidateQueries({ queryKey: ['conversation', conversationId] });
    },
  });
  const canSend = (text.trim() !== '' || files.length > 0) && !message.isPending;
  const submit = (): void => {
    if (canSend) message.mutate();
  };
  return (
    <form
      className="composer"
      onKeyDown={(event) => isSubmit(event) && submit()}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {message.error !== null && <Failure error={message.error} />}
      <textarea
        id={COMPOSER}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onPaste={(event) => setFiles([...files, ...event.clipboardData.files])}
        rows={2}
        placeholder={isOpen(turn) ? 'Steer the turn' : 'Next message'}
        aria-label="Message"
      />
      <div className="row">
        <button type="submit" className="main" disabled={!canSend}>
          Send
        </button>
        {isOpen(turn) && <OfOpenTurn conversationId={conversationId} mode={mode} setMode={setMode} />}
        <Attach files={files} change={setFiles} />
        <span className="quiet hint">Ctrl+Enter sends</span>
      </div>
    </form>
  );
}

interface OfOpenTurnProps {
  readonly conversationId: string;
  readonly mode: string;
  readonly setMode: (mode: string) => void;
}

function OfOpenTurn({ conversationId, mode, setMode }: OfOpenTurnProps) {
  return (
    <>
      <Stop conversationId={conversationId} />
      <select value={mode} onChange={(event) => setMode(event.target.value)} aria-label="When it enters">
        <option value="steer">at the next step</option>
        <option value="queue">in the next turn</option>
      </select>
    </>
  );
}

function Stop({ conversationId }: { readonly conversationId: string }) {
  const send = useSend();
  const stop = useMutation({ mutationFn: () => send('/conversations/{conversationId}/stop', { conversationId }) });
  return (
    <>
      <button type="button" onClick={() => stop.mutate()} disabled={stop.isPending}>
        Stop
      </button>
      {stop.error !== null && <Failure error={stop.error} />}
    </>
  );
}

function isSubmit({ key, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return key === 'Enter' && (ctrlKey || metaKey);
}
