import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { read } from '../api/request.ts';
import type { ModelCall, PastView } from '../api/types.ts';
import { Failure } from '../text/failure.tsx';
import { count, counted, dollars, tokens } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { nameOfCall, useWindow } from '../window/use-window.ts';
import { ViewChanges } from '../window/view-changes.tsx';
import { ViewMessageRow } from '../window/view-message.tsx';
import { WindowChart } from '../window/window-chart.tsx';
import { FillByKind } from '../window/window-fill.tsx';

interface ViewPageProps {
  readonly conversationId: string;
  /** `turn.call.attempt`; without it the newest. */
  readonly call: string | undefined;
}

/** What the model saw at a call, whole or beside the call before. */
export function ViewPage({ conversationId, call }: ViewPageProps) {
  const [isDifference, setIsDifference] = useState(false);
  const { calls, summaries, context, error: failed, hasEarlier, readEarlier } = useWindow(conversationId);
  const place = call === undefined ? calls.length - 1 : calls.findIndex((each) => nameOfCall(each) === call);
  const earlier = calls[place - 1];
  const { data: view, error } = useView(conversationId, calls[place] ?? callNamed(call));
  const { data: before } = useView(conversationId, isDifference ? earlier : undefined);
  const failure = error ?? failed;
  return (
    <section className="page">
      <Link to="/conversations/$conversationId" params={{ conversationId }}>
        Back to the conversation
      </Link>
      <h1>What the model saw</h1>
      {failure !== null && <Failure error={failure} />}
      {context !== undefined && (
        <WindowChart calls={calls} hasEarlier={hasEarlier} summaries={summaries} context={context} />
      )}
      {hasEarlier && (
        <button type="button" onClick={readEarlier}>
          Read earlier calls
        </button>
      )}
      <ChooseCall conversationId={conversationId} calls={calls} place={place} />
      {earlier !== undefined && (
        <label className="row">
          <input type="checkbox" checked={isDifference} onChange={() => setIsDifference(!isDifference)} />
          Difference to the call before
        </label>
      )}
      {view !== undefined && <Facts view={view} />}
      {view?.call.fill != null && <FillByKind fill={view.call.fill} whole={view.call.estimatedTokens} />}
      {view !== undefined && isDifference && before !== undefined && <ViewChanges before={before} after={view} />}
      {view !== undefined && !isDifference && <Whole view={view} />}
    </section>
  );
}

type CallNumbers = Pick<ModelCall, 'turn' | 'callNumber' | 'attempt'>;

/** An address may name a call that is older than those that are listed. */
function callNamed(name: string | undefined): CallNumbers | undefined {
  const numbers = /^(?<turn>\d+)\.(?<callNumber>\d+)\.(?<attempt>\d+)$/u.exec(name ?? '')?.groups;
  if (numbers === undefined) return undefined;
  const { turn, callNumber, attempt } = numbers;
  return { turn: Number(turn), callNumber: Number(callNumber), attempt: Number(attempt) };
}

function useView(conversationId: string, call: CallNumbers | undefined) {
  return useQuery({
    queryKey: ['view', conversationId, call === undefined ? null : nameOfCall(call)],
    queryFn: () => {
      const { turn, callNumber, attempt } = call ?? {};
      return read('/conversations/{conversationId}/view', { conversationId, turn, callNumber, attempt });
    },
    enabled: call !== undefined,
    staleTime: Infinity,
  });
}

interface ChooseCallProps {
  readonly conversationId: string;
  readonly calls: readonly ModelCall[];
  readonly place: number;
}

function ChooseCall({ conversationId, calls, place }: ChooseCallProps) {
  const navigate = useNavigate();
  const choose = (call: ModelCall | undefined): void => {
    if (call === undefined) return;
    const search = { call: nameOfCall(call) };
    void navigate({ to: '/conversations/$conversationId/view', params: { conversationId }, search, replace: true });
  };
  if (calls.length === 0) return <p className="quiet">No model call yet.</p>;
  return (
    <div className="row">
      <button type="button" disabled={place <= 0} onClick={() => choose(calls[place - 1])}>
        ← Earlier
      </button>
      <select aria-label="Model call" value={place} onChange={(event) => choose(calls[Number(event.target.value)])}>
        {place === -1 && <option value={place}>An earlier call</option>}
        {calls.map((each, at) => (
          <option key={nameOfCall(each)} value={at}>
            Turn {each.turn}, call {each.callNumber}
            {each.attempt > 1 && `, try ${each.attempt}`}: {tokens(each.reportedTokens ?? each.estimatedTokens)} tokens
          </option>
        ))}
      </select>
      <button type="button" disabled={place === calls.length - 1} onClick={() => choose(calls[place + 1])}>
        Later →
      </button>
    </div>
  );
}

function Facts({ view: { call, fingerprint, sentFingerprint } }: { readonly view: PastView }) {
  return (
    <p className="quiet facts">
      <span>{printable(call.model)}</span>
      <span>{count(call.estimatedTokens)} tokens estimated</span>
      {call.reportedTokens !== null && <span>{count(call.reportedTokens)} reported</span>}
      {call.cacheReadTokens !== null && <span>{count(call.cacheReadTokens)} from the cache</span>}
      <span>{dollars(call.cost)}</span>
      <span>
        {fingerprint === sentFingerprint ? 'as it was sent, byte for byte' : 'rebuilt; what was sent differs'}
      </span>
    </p>
  );
}

function Whole({ view: { view } }: { readonly view: PastView }) {
  return (
    <>
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
        <ViewMessageRow key={place} message={message} />
      ))}
    </>
  );
}
