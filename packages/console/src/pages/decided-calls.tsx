import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readLive } from '../api/problem.ts';
import { read } from '../api/request.ts';
import type { DecidedCall } from '../api/types.ts';
import { moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';

const SHOWN = 20;

/** The newest decisions, with who made them, when and why. */
export function DecidedCalls() {
  const { data } = useQuery({
    queryKey: ['decisions', 'made'],
    queryFn: () => read('/decisions/made', { limit: SHOWN }),
    refetchInterval: ({ state }) => readLive(state.error),
  });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <>
      <h2>Decided</h2>
      <ul className="decided">
        {data.items.map((decided) => (
          <li key={`${decided.conversationId} ${decided.call}`}>
            <Decided decided={decided} />
          </li>
        ))}
      </ul>
    </>
  );
}

const REACHES = { call: '', turn: ' for the turn', agent: ' always' } as const;

function Decided({ decided: { conversationId, ...call } }: { readonly decided: DecidedCall }) {
  const reach = call.covered ? ' by an earlier decision' : REACHES[call.scope ?? 'call'];
  return (
    <>
      <p>
        <code>{printable(call.tool)}</code> {call.decision}
        {reach}
        {call.decidedBy !== null && ` by ${printable(call.decidedBy)}`}{' '}
        <span className="quiet facts">
          <time dateTime={call.decidedAt}>{moment(call.decidedAt)}</time>
          <Link to="/conversations/$conversationId" params={{ conversationId }}>
            {printable(call.agent)} · {conversationId.slice(-8)}
          </Link>
        </span>
      </p>
      {call.text !== null && <p className="text">{printable(call.text)}</p>}
    </>
  );
}
