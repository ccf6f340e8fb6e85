import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { read } from '../api/request.ts';
import type { ModelCall, PastView } from '../api/types.ts';
import { Parts } from '../conversation/part.tsx';
import { WindowChart } from '../conversation/window-chart.tsx';
import { Failure } from '../text/failure.tsx';
import { count, counted, tokens } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';

interface ViewPageProps {
  readonly conversationId: string;
  /** `turn.call.attempt`; without it the newest. */
  readonly call: string | undefined;
}

/** What the model saw at a call. */
export function ViewPage({ conversationId, call }: ViewPageProps) {
  const navigate = useNavigate();
  const [turn, callNumber, attempt] = (call ?? '').split('.');
  const given = call === undefined ? { conversationId } : { conversationId, turn, callNumber, attempt };
  const calls = useQuery({
    queryKey: ['of-conversation', conversationId, 'model-calls'],
    queryFn: () => read('/conversations/{conversationId}/model-calls', { conversationId, limit: 500 }),
  });
  const { data: view, error } = useQuery({
    queryKey: ['view', conversationId, call],
    queryFn: () => read('/conversations/{conversationId}/view', given),
  });
  const choose = (name: string): void =>
    void navigate({ to: '/conversations/$conversationId/view', params: { conversationId }, search: { call: name } });
  const failure = error ?? calls.error;
  return (
    <section className="page">
      <Link to="/conversations/$conversationId" params={{ conversationId }}>
        Back to the conversation
      </Link>
      <h1>What the model saw</h1>
      {failure !== null && <Failure error={failure} />}
      {calls.data !== undefined && <WindowChart conversationId={conversationId} calls={calls.data.items} />}
      <select
        aria-label="Model call"
        value={view === undefined ? '' : nameOf(view.call)}
        onChange={(event) => choose(event.target.value)}
      >
        {calls.data?.items.toReversed().map((each) => (
          <option key={nameOf(each)} value={nameOf(each)}>
            Turn {each.turn}, call {each.callNumber}
            {each.attempt > 1 && `, try ${each.attempt}`}: {tokens(each.reportedTokens ?? each.estimatedTokens)} tokens
          </option>
        ))}
      </select>
      {view !== undefined && <Shown view={view} />}
    </section>
  );
}

function nameOf({ turn, callNumber, attempt }: ModelCall): string {
  return `${turn}.${callNumber}.${attempt}`;
}

function Shown({ view: { call, view, fingerprint, sentFingerprint } }: { readonly view: PastView }) {
  return (
    <>
      <p className="quiet facts">
        <span>{printable(call.model)}</span>
        <span>{count(call.estimatedTokens)} tokens estimated</span>
        {call.reportedTokens !== null && <span>{count(call.reportedTokens)} reported</span>}
        <span>
          {fingerprint === sentFingerprint ? 'as it was sent, byte for byte' : 'rebuilt; what was sent differs'}
        </span>
      </p>
      <details className="fold">
        <summary>Instructions</summary>
        <p className="text">{printable(view.system)}</p>
      </details>
      <details className="fold">
        <summary>{counted(view.tools.length, 'tool')}</summary>
        {view.tools.map(({ name, description }) => (
          <p key={name}>
            <code>{printable(name)}</code> {printable(description)}
          </p>
        ))}
      </details>
      {view.messages.map((message, place) => (
        <Message key={place} message={message} />
      ))}
    </>
  );
}

const ORIGINS = { user: 'User', summary: 'Summary', note: 'Note', runtime: 'Runtime' } as const;

function Message({ message }: { readonly message: PastView['view']['messages'][number] }) {
  if (message.role === 'tool_results') {
    return (
      <article className="entry">
        {message.results.map(({ id, name, content }) => (
          <details className="fold" key={id}>
            <summary>
              Result of <code>{printable(name)}</code>
            </summary>
            <Parts content={content} />
          </details>
        ))}
      </article>
    );
  }
  return (
    <article className={`entry ${message.role}`}>
      <header className="quiet">{message.role === 'user' ? ORIGINS[message.origin] : 'Agent'}</header>
      <Parts content={message.content} />
      {message.content.map((part) =>
        part.type === 'tool_call' ? (
          <pre key={part.index}>
            {printable(part.name)} {printable(part.arguments)}
          </pre>
        ) : null,
      )}
    </article>
  );
}
