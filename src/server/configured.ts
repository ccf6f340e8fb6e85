import { z } from 'zod';
import type { Configuration } from '../config/configuration.ts';
import { PRESETS } from '../config/presets.ts';
import { didYouMean } from '../tools/runtime/nearest-name.ts';
import { refused } from './arguments.ts';

export const configuredAgent = z
  .object({
    name: z.string(),
    /** `provider/model`. */
    model: z.string(),
    /** Compaction preset. */
    preset: z.string(),
    tools: z.array(z.string()).readonly(),
  })
  .meta({ id: 'Agent' });

/** Other pages: those of Temporal, with all workflows. */
export const configuredLink = z.object({ name: z.enum(['temporal']), url: z.string() }).meta({ id: 'Link' });

export const configuredPreset = z.object({ name: z.string() }).meta({ id: 'Preset' });

/** What a conversation can be started with, by its path. Agents that a program defines are known to its own workers. */
export interface Configured {
  readonly agents: readonly z.output<typeof configuredAgent>[];
  readonly presets: readonly z.output<typeof configuredPreset>[];
  readonly links: readonly z.output<typeof configuredLink>[];
}

export function configuredOf({ agents }: Configuration): Omit<Configured, 'links'> {
  return {
    agents: agents.map(({ name, model, policy, tools }) => ({ name, model, preset: policy.name, tools })),
    presets: Object.keys(PRESETS).map((name) => ({ name })),
  };
}

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
