import type { Conversation } from '../api/types.ts';
import { counted, dollars, duration, tokens } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { isOpen } from '../text/turn-state.ts';
import { numberOf, textOf } from './event-data.ts';
import { openEvent } from './live.ts';
import type { Live } from './live.ts';
import { Resume } from './resume.tsx';

interface ActivityProps {
  readonly conversation: Conversation;
  readonly live: Live;
}

/** What happens now, or how the newest turn ended. */
export function Activity({ conversation, live }: ActivityProps) {
  const { turn, waitingMessages } = conversation;
  const writing = Object.entries(live.writing);
  return (
    <div className="activity" aria-live="polite">
      {writing.map(([name, { kind, toolName, text }]) => (
        <article className="entry assistant" key={name}>
          <header className="quiet">{WRITES[kind]}</header>
          {toolName !== null && <code>{printable(toolName)}</code>}
          <p className={kind === 'text' ? 'text' : 'text quiet'}>{printable(text)}</p>
        </article>
      ))}
      {isOpen(turn) ? (
        <NowLine live={live} waitsForPerson={conversation.waitingCalls.length > 0} />
      ) : (
        <Ending conversationId={conversation.conversationId} turn={turn} />
      )}
      {waitingMessages > 0 && <p className="quiet">{counted(waitingMessages, 'message')} of you waiting.</p>}
    </div>
  );
}

const WRITES = { text: 'Agent', thinking: 'Thinking', tool_call: 'Writes a tool call' } as const;

function Ending({ conversationId, turn }: Pick<Conversation, 'conversationId' | 'turn'>) {
  if (turn === null) return <p className="quiet">No worker has taken the task yet.</p>;
  const { outcome, explanation, steps, usage, cost } = turn;
  return (
    <>
      <p className={outcome === 'completed' ? 'ending quiet' : 'ending'}>
        {explanation !== null && printable(explanation)}{' '}
        <span className="quiet">
          {counted(steps, 'step')}, {tokens(usage.input)} tokens in ({tokens(usage.cacheRead)} from the cache),{' '}
          {tokens(usage.output)} out, {dollars(cost)}
        </span>
      </p>
      <Resume key={turn.turnId} conversationId={conversationId} turn={turn} />
    </>
  );
}

interface NowLineProps {
  readonly live: Live;
  readonly waitsForPerson: boolean;
}

/** One line on what an open turn does, by its newest event. */
function NowLine({ live: { events }, waitsForPerson }: NowLineProps) {
  const waiting = openEvent(events, 'turn_waiting', ['turn_wait_over', 'turn_ended']);
  if (waiting?.data['reason'] === 'no_worker') {
    return (
      <p className="now waiting">
        Waits for a worker that has the {textOf(waiting, 'needs')} {printable(textOf(waiting, 'name'))}.
      </p>
    );
  }
  if (waiting !== null) {
    const delay = numberOf(waiting, 'delayMilliseconds') ?? 0;
    const reason = textOf(waiting, 'reason').replaceAll('_', ' ');
    return (
      <p className="now waiting">
        Waits for {printable(textOf(waiting, 'provider'))} ({reason}), up to {duration(delay)}.
      </p>
    );
  }
  const compaction = openEvent(events, 'compaction_started', COMPACTION_ENDS);
  if (compaction !== null) {
    const messages = numberOf(compaction, 'messages');
    const changed = numberOf(compaction, 'messagesChanged') ?? numberOf(compaction, 'operations');
    return (
      <p className="now">
        Compacts {tokens(numberOf(compaction, 'tokensBefore') ?? 0)} tokens
        {messages !== null && ` in ${counted(messages, 'message')}`}
        {changed !== null && `, ${changed} to change`} ({textOf(compaction, 'form').replaceAll('_', ' ')}).
      </p>
    );
  }
  const call = openEvent(events, 'model_call_started', ['model_call_answered', 'model_call_failed']);
  if (call === null) {
    return waitsForPerson ? (
      <p className="now waiting">Waits for your decision.</p>
    ) : (
      <p className="now">The turn runs.</p>
    );
  }
  const estimated = tokens(numberOf(call, 'estimatedTokens') ?? 0);
  return (
    <p className="now">
      Call {numberOf(call, 'callNumber')} of {printable(textOf(call, 'model'))} with {estimated} tokens.
    </p>
  );
}

const COMPACTION_ENDS = [
  'compaction_committed',
  'compaction_abandoned',
  'compaction_cancelled',
  'compaction_exhausted',
  'turn_ended',
];
