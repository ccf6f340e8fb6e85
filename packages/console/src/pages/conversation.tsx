import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { Activity } from '../conversation/activity.tsx';
import { Composer, SkipToComposer } from '../conversation/composer.tsx';
import { Decision } from '../conversation/decision.tsx';
import { Original } from '../conversation/original.tsx';
import type { OpenOriginal } from '../conversation/original.tsx';
import { rowsOf } from '../conversation/rows.ts';
import { SidePanel } from '../conversation/side-panel.tsx';
import { Timeline } from '../conversation/timeline.tsx';
import { useConversation } from '../conversation/use-conversation.ts';
import { Failure } from '../text/failure.tsx';
import { printable } from '../text/printable.ts';
import { isOpen, stateOf } from '../text/turn-state.ts';

/** One conversation: what was said and done, and what happens now. */
export function ConversationPage({ conversationId }: { readonly conversationId: string }) {
  const { conversation, error, live, log, events } = useConversation(conversationId);
  const [original, setOriginal] = useState<Parameters<OpenOriginal> | null>(null);
  const open = useCallback<OpenOriginal>((...wanted) => setOriginal(wanted), []);
  useStayAtEnd();
  const { entries, hasEarlier } = log;
  const rows = useMemo(() => {
    if (conversation === undefined) return [];
    const { turn, waitingCalls } = conversation;
    const openTurnId = isOpen(turn) ? (turn?.turnId ?? null) : null;
    return rowsOf({ entries, events, hasEarlier, waitingCalls, openTurnId });
  }, [entries, events, hasEarlier, conversation]);
  if (conversation === undefined) {
    return (
      <section className="page">
        {error === null ? <p className="quiet">Reading…</p> : <Failure error={error} />}
      </section>
    );
  }
  const { title, agent, model, turn, waitingCalls } = conversation;
  const { label, tone } = stateOf(conversation);
  const failure = log.error ?? live.lost;
  return (
    <section className="page conversation">
      <header className="heading">
        <SkipToComposer />
        <h1>{printable(title) || 'Without text'}</h1>
        <p className="quiet facts">
          <span className={`state ${tone}`}>{label}</span>
          <span>{printable(agent)}</span>
          <span>{printable(turn?.model ?? model ?? '')}</span>
        </p>
        {failure !== null && <Failure error={failure} />}
      </header>
      <Aside>
        <SidePanel conversation={conversation} />
      </Aside>
      <div className="talk">
        {log.hasEarlier && <p className="quiet">Reads earlier entries…</p>}
        <Timeline
          conversationId={conversationId}
          rows={rows}
          hasEarlier={log.hasEarlier}
          readEarlier={log.readEarlier}
          isIdle={!isOpen(turn)}
          open={open}
        />
        <Activity conversation={conversation} live={live} />
        {waitingCalls.map((waiting) => (
          <Decision key={waiting.call} waiting={{ conversationId, ...waiting }} />
        ))}
        <Composer conversation={conversation} />
      </div>
      {original !== null && <Original entryId={original[0]} fact={original[1]} close={() => setOriginal(null)} />}
    </section>
  );
}

const WIDE = window.matchMedia('(min-width: 64rem)');

/** Beside the timeline where there is room, else folded above it. */
function Aside({ children }: { readonly children: ReactNode }) {
  const isWide = useSyncExternalStore(
    (changed) => {
      WIDE.addEventListener('change', changed);
      return () => WIDE.removeEventListener('change', changed);
    },
    () => WIDE.matches,
  );
  if (isWide) return <aside aria-label="About this conversation">{children}</aside>;
  return (
    <details className="fold aside">
      <summary>Window, commands, rules and branches</summary>
      {children}
    </details>
  );
}

/** How far from its end a page still counts as read to the end. */
const NEAR_PIXELS = 240;

/** Scrolls along with what comes, unless the reader has scrolled up. */
function useStayAtEnd(): void {
  useEffect(() => {
    const page = document.documentElement;
    let isAtEnd = true;
    let top = page.scrollTop;
    const look = (): void => {
      const isNear = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_PIXELS;
      // A page that grows leaves its end too, but only a reader scrolls up.
      if (isNear || page.scrollTop < top) isAtEnd = isNear;
      top = page.scrollTop;
    };
    // What a reader unfolds is to be read from its beginning.
    const stay = ({ target }: MouseEvent): void => {
      if (target instanceof Element && target.closest('summary') !== null) isAtEnd = false;
    };
    const growth = new ResizeObserver(() => {
      if (isAtEnd) window.scrollTo({ top: page.scrollHeight });
    });
    growth.observe(document.body);
    window.addEventListener('scroll', look, { passive: true });
    page.addEventListener('click', stay);
    return () => {
      growth.disconnect();
      page.removeEventListener('click', stay);
      window.removeEventListener('scroll', look);
    };
  }, []);
}
