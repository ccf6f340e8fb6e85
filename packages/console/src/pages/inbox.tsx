import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { read, remove } from '../api/request.ts';
import { useWaitingPages } from '../api/waiting.ts';
import { Decision } from '../conversation/decision.tsx';
import { Failure } from '../text/failure.tsx';
import { moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { DecidedCalls } from './decided-calls.tsx';

/** Calls of all conversations that wait for a person, the one that waits longest first. */
export function InboxPage() {
  const { calls, error, isSuccess, hasNextPage, isFetchingNextPage, fetchNextPage } = useWaitingPages();
  const list = useMoveByKeys();
  return (
    <section className="page">
      <h1>Inbox</h1>
      {error !== null && <Failure error={error} />}
      {isSuccess && calls.length === 0 && (
        <p className="quiet">
          Nothing waits for a decision. A tool call waits here if <code>approvals</code> of its agent in{' '}
          <code>holdfast.yaml</code> or the tool itself asks for it, and a question of an agent that has{' '}
          <code>ask_user</code>.
        </p>
      )}
      {calls.length > 0 && (
        <p className="quiet">
          <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>r</kbd> writes a reason or an answer, <kbd>Escape</kbd> leaves it,
          the keys on the buttons decide.
        </p>
      )}
      <ul className="decisions" ref={list}>
        {calls.map((waiting) => (
          <li key={`${waiting.conversationId} ${waiting.call}`}>
            <Link to="/conversations/$conversationId" params={{ conversationId: waiting.conversationId }}>
              {printable(waiting.agent)} · {waiting.conversationId.slice(-8)}
            </Link>
            <Decision waiting={waiting} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
      <StandingDecisions />
      <DecidedCalls />
    </section>
  );
}

/** Decisions for all turns of an agent, until they are ended. */
function StandingDecisions() {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['decisions', 'standing'],
    queryFn: () => read('/standing-approvals'),
  });
  const end = useMutation({
    mutationFn: (standing: { readonly agent: string; readonly rule: string }) =>
      remove('/standing-approvals', standing),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['decisions'] }),
  });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <>
      <h2>Always</h2>
      <ul className="branches">
        {data.items.map(({ agent, rule, decision, decidedAt }) => (
          <li key={`${agent} ${rule}`}>
            <span>
              <code>{printable(rule)}</code> of {printable(agent)}{' '}
              <span className="quiet">
                {decision} {moment(decidedAt)}
              </span>
            </span>
            <button type="button" disabled={end.isPending} onClick={() => end.mutate({ agent, rule })}>
              Ask again
            </button>
          </li>
        ))}
      </ul>
      {end.error !== null && <Failure error={end.error} />}
    </>
  );
}

/** `j` and `k` move the focus between the calls of a list. */
function useMoveByKeys() {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const move = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): void => {
      const isWriting = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
      if (isWriting || ctrlKey || metaKey || altKey || (key !== 'j' && key !== 'k')) return;
      const calls = [...(list.current?.querySelectorAll<HTMLElement>('.decision') ?? [])];
      const place = calls.findIndex((call) => call === document.activeElement);
      const next = key === 'j' ? place + 1 : Math.max(0, place - 1);
      calls[Math.min(next, calls.length - 1)]?.focus();
    };
    window.addEventListener('keydown', move);
    return () => window.removeEventListener('keydown', move);
  }, []);
  return list;
}
