import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { EntryRow } from './entry-row.tsx';
import type { Row } from './rows.ts';
import type { OpenOriginal } from './original.tsx';

interface TimelineProps {
  readonly conversationId: string;
  readonly rows: readonly Row[];
  readonly hasEarlier: boolean;
  readonly readEarlier: () => void;
  readonly isIdle: boolean;
  readonly open: OpenOriginal;
}

/** Rows before the first one that is shown, at which earlier entries are read. */
const NEAR_BEGINNING = 15;
const USUAL_PIXELS = 96;

/** The rows that are in sight, in a list as high as all of them. */
export function Timeline({ conversationId, rows, hasEarlier, readEarlier, isIdle, open }: TimelineProps) {
  const list = useRef<HTMLDivElement>(null);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => USUAL_PIXELS,
    getItemKey: (place) => rows[place]?.key ?? place,
    overscan: 8,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  useKeepPlace(rows, (place) => virtual.measurementsCache[place]?.start ?? 0);
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  useEffect(() => {
    if (hasEarlier && rows.length > 0 && first < NEAR_BEGINNING) readEarlier();
  }, [hasEarlier, rows.length, first, readEarlier]);
  return (
    <div ref={list} className="timeline" style={{ height: virtual.getTotalSize() }}>
      <div style={{ transform: `translateY(${(items[0]?.start ?? 0) - virtual.options.scrollMargin}px)` }}>
        {items.map(({ key, index }) => {
          const row = rows[index];
          return (
            <div key={key} data-index={index} ref={virtual.measureElement}>
              {row === undefined ? null : row.entry === null ? (
                <EventRow row={row} />
              ) : (
                <EntryRow
                  conversationId={conversationId}
                  entry={row.entry}
                  calls={row.calls}
                  open={open}
                  isIdle={isIdle}
                />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function EventRow({ row: { at, line, times } }: { readonly row: Extract<Row, { entry: null }> }) {
  return (
    <p className={`event ${line.tone}`}>
      <time dateTime={at}>{moment(at)}</time> {printable(line.text)}
      {times > 1 && ` ${times} times.`}
    </p>
  );
}

/** Earlier rows come above those that are read: the page scrolls by their height. */
function useKeepPlace(rows: readonly Row[], startOf: (place: number) => number): void {
  const firstKey = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const before = firstKey.current;
    firstKey.current = rows[0]?.key;
    if (before === undefined || before === firstKey.current) return;
    const place = rows.findIndex(({ key }) => key === before);
    if (place > 0) window.scrollBy({ top: startOf(place) - startOf(0) });
  });
}
