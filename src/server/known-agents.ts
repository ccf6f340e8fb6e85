import { didYouMean } from '../tools/runtime/nearest-name.ts';
import { refused } from './arguments.ts';
import type { Configured } from './configured.ts';

/** @throws RequestError `invalid_argument` for an agent that neither the configuration nor a running worker has */
export type RequireAgent = (name: string | undefined, field?: string) => Promise<void>;

/** @param ofWorkers names of the agents that running workers have */
export function agentCheck({ agents }: Configured, ofWorkers: () => Promise<readonly string[]>): RequireAgent {
  const configured = agents.map(({ name }) => name);
  return async (name, field = 'agent') => {
    if (name === undefined || configured.includes(name)) return;
    const known = [...new Set([...configured, ...(await ofWorkers())])];
    if (known.length === 0 || known.includes(name)) return;
    throw refused([{ field, message: `must be one of ${known.join(', ')}${didYouMean(name, known)}` }]);
  };
}
