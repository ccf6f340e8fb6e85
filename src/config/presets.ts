import { compactionPolicy } from '../context/policy/policy.ts';
import type { CompactionPolicy, CompactionPolicyInput } from '../context/policy/policy.ts';
import { BUILT_IN_PRESETS } from '../context/policy/presets/index.ts';
import { didYouMean } from '../tools/runtime/nearest-name.ts';
import { describeOptionProblems, optionPath } from './check/describe-option-problem.ts';
import { ConfigurationError, invalidConfiguration } from './errors.ts';
import { configurationOptions } from './options/options.ts';

/** Compaction policies by name. */
export type Presets = Readonly<Record<string, CompactionPolicy>>;

/** The presets that Holdfast brings. */
export const PRESETS: Presets = Object.fromEntries(BUILT_IN_PRESETS.map((policy) => [policy.name, policy]));

/**
 * The built-in presets and your own.
 * @throws ConfigurationError `preset_duplicate` for two of one name; `configuration_invalid` naming each wrong option
 */
export function presetsWith(own: readonly CompactionPolicyInput[]): Presets {
  const presets: Record<string, CompactionPolicy> = { ...PRESETS };
  for (const policy of own) {
    if (Object.hasOwn(presets, policy.name)) {
      throw new ConfigurationError('preset_duplicate', `Two presets are called ${policy.name}: rename yours.`);
    }
    presets[policy.name] = checkPreset(policy);
  }
  return presets;
}

/** @throws ConfigurationError */
export function checkPreset(policy: CompactionPolicyInput): CompactionPolicy {
  const parsed = compactionPolicy.safeParse(policy);
  if (parsed.success) return parsed.data;
  const found = describeOptionProblems(parsed.error.issues, {
    value: policy,
    below: ['agents', '', 'policy'],
    options: configurationOptions,
  });
  throw invalidConfiguration(
    found.map(({ code, path, message }) => ({ code, option: `preset ${policy.name}: ${optionPath(path)}`, message })),
  );
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
  return `${didYouMean(name, names)} (there are: ${names.join(', ')}; an agent in code takes your own as a value)`;
}
