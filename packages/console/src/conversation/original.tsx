import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { read } from '../api/request.ts';
import { Failure } from '../text/failure.tsx';
import { moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { Parts } from './part.tsx';

/** Opens the original of an entry, at a fact that it says. */
export type OpenOriginal = (entryId: string, fact?: string) => void;

interface OriginalProps {
  readonly entryId: string;
  /** Set off and scrolled to, where the text says it in the same characters. */
  readonly fact?: string | undefined;
  readonly close: () => void;
}

/** The original of one entry, over the page. */
export function Original({ entryId, fact, close }: OriginalProps) {
  const { data, error } = useQuery({
    queryKey: ['entry', entryId],
    queryFn: () => read('/entries/{entryId}', { entryId }),
    staleTime: Infinity,
  });
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => (data === undefined ? undefined : showFact(dialog.current, printable(fact ?? ''))), [data, fact]);
  return (
    <dialog ref={dialog} onClose={close} aria-label="Original">
      <form method="dialog" className="row">
        <h2>
          {data === undefined ? 'Original' : `Entry ${data.sequence}, ${data.kind.replaceAll('_', ' ')}`}{' '}
          <code>{printable(data?.toolName ?? '')}</code>
        </h2>
        {data !== undefined && <span className="quiet">{moment(data.createdAt)}</span>}
        <button type="submit">Close</button>
      </form>
      {error !== null && <Failure error={error} />}
      {data !== undefined && <Parts content={data.content} />}
      {data?.content.map((part) =>
        part.type === 'tool_call' ? (
          <pre key={part.index}>
            {printable(part.name)} {printable(part.arguments)}
          </pre>
        ) : null,
      )}
    </dialog>
  );
}

/** @returns what takes the mark away */
function showFact(dialog: HTMLElement | null, fact: string): (() => void) | undefined {
  if (dialog === null || fact === '') return undefined;
  const texts = document.createTreeWalker(dialog, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const start = node.nodeValue?.indexOf(fact) ?? -1;
    if (start === -1) continue;
    const range = new Range();
    range.setStart(node, start);
    range.setEnd(node, start + fact.length);
    const above = range.getBoundingClientRect().top - dialog.getBoundingClientRect().top;
    dialog.scrollBy({ top: above - dialog.clientHeight / 2 });
    // Older browsers only scroll there.
    if (!('highlights' in CSS)) return undefined;
    CSS.highlights.set('fact', new Highlight(range));
    return () => CSS.highlights.delete('fact');
  }
  return undefined;
}
