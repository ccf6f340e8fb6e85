import type { ProviderDefinition } from '../provider.ts';
import type { ConformanceFinding } from './capability.ts';

/** What a server says that knows no such path: most often its base URL was given without `/v1`. */
export function isUnknownPath({ status, detail }: ConformanceFinding): boolean {
  return status === 'fails' && detail.startsWith('HTTP 404');
}

/** The base URL with the `/v1` that OpenAI's SDK wants in it; `null` when it has a path, or needs none (Anthropic's is taken with and without). */
export function otherAddress({ protocol, baseUrl }: Pick<ProviderDefinition, 'protocol' | 'baseUrl'>): string | null {
  if (protocol === 'anthropic' || new URL(baseUrl).pathname !== '/') return null;
  return `${baseUrl.replace(/\/$/, '')}/v1`;
}
