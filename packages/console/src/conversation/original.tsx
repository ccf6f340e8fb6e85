import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { read } from '../api/request.ts';
import { Failure } from '../text/failure.tsx';
import { moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { Parts } from './part.tsx';

interface OriginalProps {
  readonly entryId: string;
  readonly close: () => void;
}

/** The original of one entry, over the page. */
export function Original({ entryId, close }: OriginalProps) {
  const { data, error } = useQuery({
    queryKey: ['entry', entryId],
    queryFn: () => read('/entries/{entryId}', { entryId }),
    staleTime: Infinity,
  });
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
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
