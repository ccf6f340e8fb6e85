import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { useSend } from '../api/request.ts';
import type { WaitingCall } from '../api/types.ts';
import { Failure } from '../text/failure.tsx';
import { moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { questionIn, written } from '../text/tool-arguments.ts';

type Decided = 'approve' | 'deny' | 'answer';
type Span = 'call' | 'turn' | 'agent';

export type ShownCall = Pick<
  WaitingCall,
  'call' | 'kind' | 'tool' | 'arguments' | 'rules' | 'requestedAt' | 'expiresAt'
> & { readonly conversationId: string };

const PATHS = {
  approve: '/conversations/{conversationId}/approve',
  deny: '/conversations/{conversationId}/deny',
  answer: '/conversations/{conversationId}/answer',
} as const;

/** Keys on a call that has the focus, and what they decide. */
const KEYS: Readonly<Record<string, readonly [Decided, Span]>> = {
  a: ['approve', 'call'],
  t: ['approve', 'turn'],
  w: ['approve', 'agent'],
  d: ['deny', 'call'],
};

function useDecide({ conversationId, call }: ShownCall, text: string) {
  const queries = useQueryClient();
  const send = useSend(text);
  return useMutation({
    mutationFn: ([decided, span]: readonly [Decided, Span]) => {
      const words = decided === 'answer' ? { text } : { for: span, ...(text !== '' && { reason: text }) };
      return send(PATHS[decided], { conversationId, call, ...words });
    },
    onSuccess: () =>
      Promise.all(
        [['decisions'], ['conversation', conversationId]].map((queryKey) => queries.invalidateQueries({ queryKey })),
      ),
  });
}

/** A call that waits for a person: approve, deny or answer it. */
export function Decision({ waiting }: { readonly waiting: ShownCall }) {
  const { kind, tool, requestedAt, expiresAt, rules } = waiting;
  const [text, setText] = useState('');
  const decision = useDecide(waiting, text);
  const words = useRef<HTMLInputElement>(null);
  const byKey = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === words.current && event.key === 'Escape') event.currentTarget.focus();
    if (event.target !== event.currentTarget) return;
    const chosen = kind === 'question' ? undefined : KEYS[event.key];
    if (event.key !== 'r' && chosen === undefined) return;
    event.preventDefault();
    if (chosen === undefined) words.current?.focus();
    else if (!decision.isPending) decision.mutate(chosen);
  };
  return (
    <article className="decision" tabIndex={0} onKeyDown={byKey} aria-label={`${kind}: ${printable(tool)}`}>
      <p>
        <strong>{kind === 'approval' ? 'Approve ' : 'The agent asks'}</strong>
        {kind === 'approval' && <code>{printable(tool)}</code>}{' '}
        <span className="quiet">
          since {moment(requestedAt)}, expires {moment(expiresAt)}
          {kind === 'approval' && `, asked for by ${printable(rules.join(', '))}`}
        </span>
      </p>
      {kind === 'question' ? (
        <p className="text">{printable(questionIn(waiting.arguments))}</p>
      ) : (
        <pre tabIndex={0}>{printable(written(waiting.arguments))}</pre>
      )}
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          decision.mutate([kind === 'question' ? 'answer' : 'approve', 'call']);
        }}
      >
        <input
          ref={words}
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={kind === 'question' ? 'Answer' : 'Reason (may be empty)'}
          aria-label={kind === 'question' ? 'Answer' : 'Reason'}
        />
        <Choices kind={kind} isPending={decision.isPending} decide={decision.mutate} />
      </form>
      {decision.error !== null && <Failure error={decision.error} />}
    </article>
  );
}

interface ChoicesProps {
  readonly kind: ShownCall['kind'];
  readonly isPending: boolean;
  readonly decide: (choice: readonly [Decided, Span]) => void;
}

function Choices({ kind, isPending, decide }: ChoicesProps) {
  if (kind === 'question') {
    return (
      <button type="submit" className="main" disabled={isPending}>
        Answer <kbd>Enter</kbd>
      </button>
    );
  }
  return (
    <>
      <button type="submit" className="main" disabled={isPending}>
        Approve once <kbd>a</kbd>
      </button>
      <button type="button" disabled={isPending} onClick={() => decide(['approve', 'turn'])}>
        For this turn <kbd>t</kbd>
      </button>
      <button type="button" disabled={isPending} onClick={() => decide(['approve', 'agent'])}>
        Always <kbd>w</kbd>
      </button>
      <button type="button" disabled={isPending} onClick={() => decide(['deny', 'call'])}>
        Deny <kbd>d</kbd>
      </button>
    </>
  );
}
