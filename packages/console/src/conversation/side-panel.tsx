import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useConfigured } from '../api/configured.ts';
import { read, useSend } from '../api/request.ts';
import type { Conversation } from '../api/types.ts';
import { Failure } from '../text/failure.tsx';
import { counted } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { isOpen } from '../text/turn-state.ts';
import { useWindow } from '../window/use-window.ts';
import { WindowChart } from '../window/window-chart.tsx';
import { WindowFill } from '../window/window-fill.tsx';
import { Compact } from './compact.tsx';

/** Beside the timeline: the window, pinned rules, branches and commands. */
export function SidePanel({ conversation }: { readonly conversation: Conversation }) {
  const { conversationId, turn, agent } = conversation;
  const { calls, hasEarlier, summaries, context, error } = useWindow(conversationId);
  return (
    <>
      <section>
        <h2>Window</h2>
        {error !== null && <Failure error={error} />}
        {context === undefined ? (
          error === null && <p className="quiet">No model call yet.</p>
        ) : (
          <>
            <WindowFill context={context} />
            <WindowChart calls={calls} hasEarlier={hasEarlier} summaries={summaries} context={context} />
            <Link to="/conversations/$conversationId/view" params={{ conversationId }}>
              What the model saw
            </Link>
          </>
        )}
      </section>
      <section>
        <h2>Commands</h2>
        <Compact conversationId={conversationId} />
      </section>
      <Pins conversationId={conversationId} />
      <Branches conversationId={conversationId} isIdle={!isOpen(turn)} />
      <section className="links">
        <Link to="/search" search={{ conversation: conversationId, agent }}>
          Search this conversation
        </Link>
        <TemporalLink conversationId={conversationId} />
      </section>
    </>
  );
}

function TemporalLink({ conversationId }: { readonly conversationId: string }) {
  const temporal = useConfigured('links')?.find(({ name }) => name === 'temporal');
  if (temporal === undefined) return null;
  return (
    <a href={`${temporal.url}/${encodeURIComponent(`agent-turn:${conversationId}`)}`} target="_blank" rel="noreferrer">
      Workflow in Temporal
    </a>
  );
}

/** Rules that stand word for word in every request. */
function Pins({ conversationId }: { readonly conversationId: string }) {
  const [rule, setRule] = useState('');
  const { data } = useQuery({
    queryKey: ['of-conversation', conversationId, 'pins'],
    queryFn: () => read('/conversations/{conversationId}/pins', { conversationId }),
  });
  const send = useSend(rule);
  const sendUnpin = useSend();
  const pin = useMutation({
    mutationFn: () => send('/conversations/{conversationId}/pins', { conversationId, rule }),
    onSuccess: () => setRule(''),
  });
  const unpin = useMutation({
    mutationFn: (number: number) =>
      sendUnpin('/conversations/{conversationId}/pins/{pin}/unpin', { conversationId, pin: number }),
  });
  const error = pin.error ?? unpin.error;
  return (
    <section>
      <h2>Pinned rules</h2>
      <ol className="pins">
        {data?.items.map((each, place) => (
          <li key={place}>
            <span className="text">{printable(each)}</span>{' '}
            <button
              type="button"
              className="link"
              aria-label={`Unpin rule ${place + 1}`}
              onClick={() => unpin.mutate(place + 1)}
            >
              Unpin
            </button>
          </li>
        ))}
      </ol>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          pin.mutate();
        }}
      >
        <input value={rule} onChange={(event) => setRule(event.target.value)} placeholder="A rule" aria-label="Rule" />
        <button type="submit" disabled={rule.trim() === '' || pin.isPending}>
          Pin
        </button>
      </form>
      {error !== null && <Failure error={error} />}
    </section>
  );
}

function Branches({ conversationId, isIdle }: { readonly conversationId: string; readonly isIdle: boolean }) {
  const { data } = useQuery({
    queryKey: ['of-conversation', conversationId, 'branches'],
    queryFn: () => read('/conversations/{conversationId}/branches', { conversationId }),
  });
  const send = useSend();
  const change = useMutation({
    mutationFn: (branch: number) => send('/conversations/{conversationId}/switch', { conversationId, branch }),
  });
  const branches = data?.items ?? [];
  if (branches.length < 2) return null;
  return (
    <section>
      <h2>Branches</h2>
      <ul className="branches">
        {branches.map(({ branch, active, title, entries, forkedFrom, forkedAtSequence }) => (
          <li key={branch}>
            <span>
              {branch}. {printable(title) || 'Without text'}{' '}
              <span className="quiet">
                {counted(entries, 'entry', 'entries')}
                {forkedFrom !== null && `, from ${forkedFrom} at ${forkedAtSequence}`}
              </span>
            </span>
            {active ? (
              <span className="quiet">active</span>
            ) : (
              <button
                type="button"
                disabled={!isIdle || change.isPending}
                onClick={() => change.mutate(branch)}
                aria-label={`Switch to branch ${branch}`}
              >
                Switch
              </button>
            )}
          </li>
        ))}
      </ul>
      {change.error !== null && <Failure error={change.error} />}
    </section>
  );
}
