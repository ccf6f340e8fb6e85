import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read } from '../api/request.ts';
import type { SummaryAudit } from '../api/types.ts';
import { Failure } from '../text/failure.tsx';
import { Fold } from '../text/fold.tsx';
import { count, counted, percent } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import type { OpenOriginal } from './original.tsx';

interface DroppedProps {
  readonly conversationId: string;
  readonly compactionId: string;
  readonly open: OpenOriginal;
}

/** Facts of the originals that the window no longer said after a compaction, looked for when it is unfolded. */
export function Dropped(props: DroppedProps) {
  return <Fold summary="What it dropped">{() => <Found {...props} />}</Fold>;
}

function Found({ conversationId, compactionId, open }: DroppedProps) {
  const { data, error } = useQuery({
    queryKey: ['audit', conversationId, compactionId],
    queryFn: () => read('/conversations/{conversationId}/audit', { conversationId, compactionId }),
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <p className="quiet">Compares the window with the originals…</p>;
  return <Audit conversationId={conversationId} audit={data} open={open} />;
}

const SHOWN = 200;

interface AuditProps extends Pick<DroppedProps, 'conversationId' | 'open'> {
  readonly audit: SummaryAudit;
}

function Audit({ conversationId, audit, open }: AuditProps) {
  const { facts, carried, shown, missing, droppedEntries, shortenedEntries } = audit;
  if (facts === 0) return <p className="quiet">The originals that left the window say no facts that are looked for.</p>;
  return (
    <>
      <p>
        {counted(droppedEntries, 'entry', 'entries')} left the window, {count(shortenedEntries)} are shown shorter. Of
        their {counted(facts, 'fact')}, {count(carried)} ({percent(carried, facts)}) are in the summary, {count(shown)}{' '}
        elsewhere in the window, {count(missing.length)} only in the originals. Recall was asked for{' '}
        {count(audit.askedFor)} and found {count(audit.found)}.
      </p>
      {missing.length > 0 && (
        <div className="wide" tabIndex={0} role="region" aria-label="Facts that were dropped">
          <table>
            <thead>
              <tr>
                <th>Entry</th>
                <th>Kind</th>
                <th>Fact</th>
                <th>Recall</th>
              </tr>
            </thead>
            <tbody>
              {missing.slice(0, SHOWN).map(({ entryId, sequence, kind, text, found }) => (
                <tr key={`${entryId} ${kind} ${text}`}>
                  <td>
                    <button type="button" className="link" onClick={() => open(entryId, text)}>
                      {sequence}
                    </button>
                  </td>
                  <td>{kind}</td>
                  <td className="fact">{printable(text)}</td>
                  <td className={found === false ? 'bad' : 'good'}>
                    {found === null ? (
                      <Link to="/search" search={{ q: text, conversation: conversationId }}>
                        search for it
                      </Link>
                    ) : found ? (
                      'found by recall'
                    ) : (
                      'not found'
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {missing.length > SHOWN && <p className="quiet">{count(missing.length - SHOWN)} more.</p>}
    </>
  );
}
