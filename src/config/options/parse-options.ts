import { describeOptionProblems, type FoundProblem } from '../check/describe-option-problem.ts';
import { configurationOptions, type ConfigurationOptions } from './options.ts';

export interface ParsedOptions {
  /** What fits the schema: everything, or the rest without the wrong options. */
  readonly value: ConfigurationOptions;
  readonly problems: readonly FoundProblem[];
}

/** Each pass takes out at least one option; more wrong options than this are not looked behind. */
const MAXIMUM_PASSES = 20;

/** Fits written options to the schema. Wrong ones are named and left out, so that the others can be checked too. */
export function parseOptions(written: unknown): ParsedOptions {
  const parsed = configurationOptions.safeParse(written);
  if (parsed.success) return { value: parsed.data, problems: [] };
  const problems = describeOptionProblems(parsed.error.issues, { value: written, below: [] });
  const rest = structuredClone(written);
  let { issues } = parsed.error;
  for (let pass = 0; pass < MAXIMUM_PASSES; pass += 1) {
    for (const issue of issues) {
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : [null];
      for (const key of keys) removeAt(rest, key === null ? issue.path : [...issue.path, key]);
    }
    const again = configurationOptions.safeParse(rest);
    if (again.success) return { value: again.data, problems };
    ({ issues } = again.error);
  }
  return { value: {}, problems };
}

/** Removes the value at the path, or, when it is the missing one, what misses it. */
function removeAt(root: unknown, path: readonly PropertyKey[]): void {
  for (let length = path.length; length > 0; length -= 1) {
    const holder = path.slice(0, length - 1).reduce<unknown>(child, root);
    const key = path[length - 1];
    if (key === undefined || child(holder, key) === undefined) continue;
    if (typeof holder === 'object' && holder !== null) Reflect.deleteProperty(holder, key);
    return;
  }
}

function child(holder: unknown, key: PropertyKey): unknown {
  return typeof holder === 'object' && holder !== null ? Reflect.get(holder, key) : undefined;
}

/**
 * Of what the second check found, that which does not follow from a wrong option: a whole section or provider that was
 * left out makes everything doubtful that names it, a wrong option whatever stands in the same agent, model or provider.
 */
export function notFollowingFrom(wrong: readonly FoundProblem[], found: readonly FoundProblem[]): FoundProblem[] {
  if (wrong.some(({ path }) => path.length < 2 || (path[0] === 'providers' && path.length === 2))) return [];
  return found.filter(({ path }) => !wrong.some((other) => other.path[0] === path[0] && other.path[1] === path[1]));
}
