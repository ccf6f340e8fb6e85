import { stringArgument, type ConversationEvent } from '../agents/conversation.ts';
import { isPlaceholder } from './file-text.ts';
import type { Item } from './reading-task.ts';

/** A line of a listing: a name, perhaps with size or marks before or behind. Directories end with "/". */
const LINE = /^\s*(?:[-*] )?([\w.@~+-][\w.@~+/ -]*?\.[A-Za-z0-9]{1,10})(?:\s{2,}.*|\s*[\t(,·].*)?$/;

const NEXT = /\bon with offset (\d+)/;

/** What the listings in the request show of a directory. */
export interface Listing {
  readonly items: readonly Item[];
  /** Where the newest listing goes on. */
  readonly nextOffset: number | undefined;
  /** A listing was made and is still in view. */
  readonly wasMade: boolean;
}

/** One item for each file that the listings of a directory show. */
export function readListing(directory: string, events: readonly ConversationEvent[]): Listing {
  const results = events.flatMap((event) =>
    event.kind === 'call' &&
    event.name === 'list_files' &&
    event.result !== undefined &&
    !isPlaceholder(event.result.text)
      ? [{ base: stringArgument(event, 'path') ?? directory, text: event.result.text }]
      : [],
  );
  const paths = results.flatMap(({ base, text }) => text.split('\n').flatMap((line) => pathIn(line, base) ?? []));
  const next = NEXT.exec(results.at(-1)?.text ?? '')?.[1];
  return {
    items: [...new Set(paths)].map((path) => ({ label: path, files: [path], facts: [] })),
    nextOffset: next === undefined ? undefined : Number(next),
    wasMade: results.length > 0,
  };
}

function pathIn(line: string, directory: string): string | undefined {
  const name = LINE.exec(line)?.[1];
  if (name === undefined) return undefined;
  const base = directory.replace(/^\.\/?/, '').replace(/\/$/, '');
  return base === '' || name.startsWith(`${base}/`) ? name : `${base}/${name}`;
}
