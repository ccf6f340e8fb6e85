import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { read } from '../api/request.ts';
import type { Conversation } from '../api/types.ts';
import { Failure } from '../text/failure.tsx';
import { counted, dollars, moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { stateOf } from '../text/turn-state.ts';
import { StartTask } from './start-task.tsx';

const LIVE_MILLISECONDS = 2_000;
const PAGE = 50;
const STATES = ['', 'working', 'waiting', 'idle'] as const;

/** All conversations, newest activity first. */
export function ConversationsPage() {
  const [state, setState] = useState<string>('');
  const [agent, setAgent] = useState('');
  const [limit, setLimit] = useState(PAGE);
  const filters = { ...(state !== '' && { state }), ...(agent !== '' && { agent }), limit };
  const { data, error, isPending } = useQuery({
    queryKey: ['conversations', filters],
    queryFn: () => read('/conversations', filters),
    placeholderData: (before) => before,
    refetchInterval: LIVE_MILLISECONDS,
  });
  return (
    <section className="page">
      <h1>Conversations</h1>
      <StartTask />
      <div className="row filters">
        <select value={state} onChange={(event) => setState(event.target.value)} aria-label="State">
          {STATES.map((each) => (
            <option key={each} value={each}>
              {each === '' ? 'any state' : each}
            </option>
          ))}
        </select>
        <input
          value={agent}
          onChange={(event) => setAgent(event.target.value.trim())}
          placeholder="any agent"
          aria-label="Agent"
        />
      </div>
      {error !== null && <Failure error={error} />}
      {isPending && <p className="quiet">Reading…</p>}
      {data?.items.length === 0 && <p className="quiet">No conversation here.</p>}
      <ul className="conversations">
        {data?.items.map((conversation) => (
          <Row key={conversation.conversationId} conversation={conversation} />
        ))}
      </ul>
      {data?.hasMore === true && (
        <button type="button" onClick={() => setLimit(limit + PAGE)}>
          Show more
        </button>
      )}
    </section>
  );
}

function Row({ conversation }: { readonly conversation: Conversation }) {
  const { conversationId, title, agent, model, turn, createdAt, waitingMessages } = conversation;
  const { label, tone } = stateOf(conversation);
  return (
    <li>
      <Link to="/conversations/$conversationId" params={{ conversationId }}>
        <span className="title">{printable(title) || 'Without text'}</span>
        <span className={`state ${tone}`}>{label}</span>
        <span className="quiet facts">
          <span>{printable(agent)}</span>
          <span>{turn?.model ?? model ?? ''}</span>
          <span>{counted(turn?.steps ?? 0, 'step')}</span>
          {waitingMessages > 0 && <span>{counted(waitingMessages, 'message')} waiting</span>}
          {turn !== null && <span>{dollars(turn.cost)}</span>}
          <time dateTime={turn?.startedAt ?? createdAt}>{moment(turn?.startedAt ?? createdAt)}</time>
        </span>
      </Link>
    </li>
  );
}
