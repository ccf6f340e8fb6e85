import type { CompactionPolicy } from '../policy.ts';
import { DEFAULT_POLICY } from './default.ts';

/** The presets that Holdfast brings, in the order in which they are listed. */
export const BUILT_IN_PRESETS: readonly CompactionPolicy[] = [DEFAULT_POLICY];
