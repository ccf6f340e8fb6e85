import { useEffect, useRef } from 'react';
import { Activity } from '../conversation/activity.tsx';
import { Composer } from '../conversation/composer.tsx';
import { Timeline } from '../conversation/timeline.tsx';
import { useConversation } from '../conversation/use-conversation.ts';
import { Failure } from '../text/failure.tsx';
import { printable } from '../text/printable.ts';
import { isOpen, stateOf } from '../text/turn-state.ts';

/** One conversation: what was said and done, and what happens now. */
export function ConversationPage({ conversationId }: { readonly conversationId: string }) {
  const { conversation, error, live, log } = useConversation(conversationId);
  const bottom = useStayAtEnd([log.entries.length, live]);
  if (conversation === undefined) {
    return (
      <section className="page">
        {error === null ? <p className="quiet">Reading…</p> : <Failure error={error} />}
      </section>
    );
  }
  const { title, agent, model, turn, waitingCalls } = conversation;
  const { label, tone } = stateOf(conversation);
  return (
    <section className="page conversation">
      <header className="heading">
        <h1>{printable(title) || 'Without text'}</h1>
        <p className="quiet facts">
          <span className={`state ${tone}`}>{label}</span>
          <span>{printable(agent)}</span>
          <span>{turn?.model ?? model}</span>
        </p>
      </header>
      {live.lost !== null && <Failure error={live.lost} />}
      {log.hasEarlier && (
        <button type="button" onClick={log.readEarlier}>
          Show earlier entries
        </button>
      )}
      <Timeline
        conversationId={conversationId}
        entries={log.entries}
        waitingCalls={waitingCalls}
        openTurnId={isOpen(turn) ? (turn?.turnId ?? null) : null}
      />
      <Activity conversation={conversation} live={live} />
      <div ref={bottom} />
      <Composer conversation={conversation} />
    </section>
  );
}

/** How far from its end a page still counts as read to the end. */
const NEAR_PIXELS = 240;

/** Scrolls along with what comes, unless the reader has scrolled up. */
function useStayAtEnd(changes: readonly unknown[]) {
  const bottom = useRef<HTMLDivElement>(null);
  const wasAtEnd = useRef(true);
  useEffect(() => {
    const look = (): void => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
      wasAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PIXELS;
    };
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, []);
  useEffect(() => {
    if (wasAtEnd.current) window.scrollTo({ top: document.documentElement.scrollHeight });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the changes are what it waits for
  }, changes);
  return bottom;
}
