import type { CompactionPolicy } from '../policy.ts';
import { DEFAULT_POLICY } from './default.ts';
import { GOAGENT_POLICY } from './goagent.ts';
import { OPENCODE_POLICY } from './opencode.ts';
import { PI_POLICY } from './pi.ts';

/** The presets that Holdfast brings, in the order in which they are listed. */
export const BUILT_IN_PRESETS: readonly CompactionPolicy[] = [
  DEFAULT_POLICY,
  PI_POLICY,
  GOAGENT_POLICY,
  OPENCODE_POLICY,
];
