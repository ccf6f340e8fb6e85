import { stringArgument, type CallEvent } from '../agents/conversation.ts';
import { isPlaceholder } from './file-text.ts';

/** A line of a listing: a name, perhaps with size or marks before or behind. Directories end with "/". */
const LINE = /^\s*(?:[-*] )?([\w.@~+-][\w.@~+/ -]*?\.[A-Za-z0-9]{1,10})(?:\s{2,}.*|\s*[\t(,·].*)?$/;

/** Paths of the files that listings show. */
export function listedPaths(calls: readonly CallEvent[]): readonly string[] {
  return calls.flatMap((call) => {
    if (call.name !== 'list_files' || call.result === undefined || isPlaceholder(call.result.text)) return [];
    const base = (stringArgument(call, 'path') ?? '.').replace(/^\.\/?/, '').replace(/\/$/, '');
    return call.result.text.split('\n').flatMap((line) => {
      const name = LINE.exec(line)?.[1];
      if (name === undefined) return [];
      return base === '' || name.startsWith(`${base}/`) ? name : `${base}/${name}`;
    });
  });
}
