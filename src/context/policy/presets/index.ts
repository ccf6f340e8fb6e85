import type { CompactionPolicy } from '../policy.ts';
import { COWORK_POLICY } from './cowork.ts';
import { DEFAULT_POLICY } from './default.ts';
import { GOAGENT_POLICY } from './goagent.ts';
import { OPENCODE_POLICY } from './opencode.ts';
import { PI_POLICY } from './pi.ts';
import { WOLFFISH_POLICY } from './wolffish.ts';

/** The presets that Holdfast brings, in the order in which they are listed. */
export const BUILT_IN_PRESETS: readonly CompactionPolicy[] = [
  DEFAULT_POLICY,
  WOLFFISH_POLICY,
  PI_POLICY,
  COWORK_POLICY,
  GOAGENT_POLICY,
  OPENCODE_POLICY,
];
