import type { ConformanceFinding } from './capability.ts';

/** What a server says that knows no such path: most often its base URL was given without `/v1`. */
export function isUnknownPath({ status, detail }: ConformanceFinding): boolean {
  return status === 'fails' && detail.startsWith('HTTP 404');
}
