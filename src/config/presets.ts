import type { CompactionPolicy } from '../context/policy/policy.ts';
import { BUILT_IN_PRESETS } from '../context/policy/presets/index.ts';
import { nearestName } from '../tools/runtime/nearest-name.ts';
import { ConfigurationError } from './errors.ts';

/** Compaction policies by name. */
export type Presets = Readonly<Record<string, CompactionPolicy>>;

/** The presets that Holdfast brings. */
export const PRESETS: Presets = Object.fromEntries(BUILT_IN_PRESETS.map((policy) => [policy.name, policy]));

/** The built-in presets and your own. @throws ConfigurationError `preset_duplicate` for two of one name. */
export function presetsWith(own: readonly CompactionPolicy[]): Presets {
  const presets: Record<string, CompactionPolicy> = { ...PRESETS };
  for (const policy of own) {
    if (Object.hasOwn(presets, policy.name)) {
      throw new ConfigurationError('preset_duplicate', `Two presets are called ${policy.name}: rename yours.`);
    }
    presets[policy.name] = policy;
  }
  return presets;
}

/** @throws ConfigurationError `preset_unknown` */
export function presetNamed(presets: Presets, name: string): CompactionPolicy {
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (preset !== undefined) return preset;
  throw new ConfigurationError(
    'preset_unknown',
    `There is no preset ${JSON.stringify(name)}${presetHint(presets, name)}`,
  );
}

export function presetHint(presets: Presets, name: string): string {
  const names = Object.keys(presets);
  const near = nearestName(name, names);
  return `${near === null ? '' : `; did you mean ${near}?`} (there are: ${names.join(', ')})`;
}
