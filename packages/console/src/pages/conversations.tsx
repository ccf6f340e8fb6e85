import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { readLive } from '../api/problem.ts';
import { read } from '../api/request.ts';
import type { Conversation } from '../api/types.ts';
import { AgentInput } from '../text/agent-input.tsx';
import { Failure } from '../text/failure.tsx';
import { counted, dollars, moment, percent, tokens } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { stateOf } from '../text/turn-state.ts';
import { StartTask } from './start-task.tsx';

const PAGE = 50;
const DAY_MILLISECONDS = 86_400_000;
const STATES = ['', 'working', 'queued', 'idle'] as const;

/** All conversations, newest activity first. */
export function ConversationsPage() {
  const [state, setState] = useState<string>('');
  const [agent, setAgent] = useState('');
  const [days, setDays] = useState(0);
  const filters = { ...(state !== '' && { state }), ...(agent !== '' && { agent }) };
  const { conversations, ...list } = useConversations(filters, days);
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
        <AgentInput label="Agent" placeholder="any agent" value={agent} change={setAgent} />
        <select value={days} onChange={(event) => setDays(Number(event.target.value))} aria-label="Active since">
          <option value={0}>any time</option>
          <option value={1}>the last day</option>
          <option value={7}>the last week</option>
        </select>
      </div>
      {list.error !== null && <Failure error={list.error} />}
      {list.isPending && <p className="quiet">Reading…</p>}
      {list.isSuccess && conversations.length === 0 && <p className="quiet">No conversation here.</p>}
      <ul className="conversations">
        {conversations.map((conversation) => (
          <Row key={conversation.conversationId} conversation={conversation} />
        ))}
      </ul>
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </button>
      )}
    </section>
  );
}

function useConversations(filters: { readonly state?: string; readonly agent?: string }, days: number) {
  const { data, ...list } = useInfiniteQuery({
    queryKey: ['conversations', filters, days],
    initialPageParam: {},
    queryFn: ({ pageParam }) => {
      const since = days === 0 ? {} : { since: new Date(Date.now() - days * DAY_MILLISECONDS).toISOString() };
      return read('/conversations', { ...filters, ...since, ...pageParam, limit: PAGE });
    },
    getNextPageParam: ({ items, hasMore }) => (hasMore ? { before: items.at(-1)?.conversationId } : undefined),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => readLive(state.error, state.data?.pages.length),
  });
  const all = data?.pages.flatMap(({ items }) => items) ?? [];
  // One that moved up while the pages were read stands in two of them.
  return { ...list, conversations: [...new Map(all.map((each) => [each.conversationId, each])).values()] };
}

function Row({ conversation }: { readonly conversation: Conversation }) {
  const { conversationId, title, agent, model, turn, createdAt, waitingMessages, fill } = conversation;
  const { label, tone } = stateOf(conversation);
  // The list is in this order.
  const activeAt = turn?.endedAt ?? turn?.startedAt ?? createdAt;
  return (
    <li>
      <Link to="/conversations/$conversationId" params={{ conversationId }}>
        <span className="title">{printable(title) || 'Without text'}</span>
        <span className={`state ${tone}`}>{label}</span>
        <span className="quiet facts">
          <span>{printable(agent)}</span>
          <span>{printable(turn?.model ?? model ?? '')}</span>
          {turn !== null && turn.steps > 0 && <span>{counted(turn.steps, 'step')}</span>}
          {waitingMessages > 0 && <span>{counted(waitingMessages, 'message')} waiting</span>}
          {turn !== null && <span>{dollars(turn.cost)}</span>}
          {fill !== null && <Fill {...fill} />}
          <time dateTime={activeAt}>{moment(activeAt)}</time>
          <span>{conversationId.slice(-8)}</span>
        </span>
      </Link>
    </li>
  );
}

function Fill({ tokens: filled, inputBudget }: NonNullable<Conversation['fill']>) {
  if (inputBudget === null) return <span>{tokens(filled)} tokens</span>;
  return (
    <span className="fill">
      <meter min={0} max={inputBudget} value={filled} aria-label="Fill of the window" /> {percent(filled, inputBudget)}
    </span>
  );
}
