import type { ConfigurationOptions } from './options/options.ts';

/** How long conversations are kept, of one agent or of all that have no rule of their own. */
export interface RetentionRule {
  /** Name of the agent; `null` for every agent without a rule. */
  readonly agent: string | null;
  /** Days since the last activity; `null`: for ever. */
  readonly days: number | null;
}

/** The rules of `holdfast.yaml`. An agent's own rule stands even when it deletes nothing: it shields from the general one. */
export function retentionRules({ retention }: ConfigurationOptions): readonly RetentionRule[] {
  if (retention === undefined) return [];
  const { days = null, agents = {} } = retention;
  return [
    ...Object.entries(agents).map(([agent, rule]) => ({ agent, days: rule.days ?? null })),
    ...(days === null ? [] : [{ agent: null, days }]),
  ];
}
