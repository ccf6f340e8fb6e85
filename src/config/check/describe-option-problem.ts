import { z } from 'zod';
import { didYouMean } from '../../tools/runtime/nearest-name.ts';
import type { ConfigurationProblem } from '../errors.ts';

/** An address with a password in it; refused elsewhere, and not shown here. */
const HOLDS_PASSWORD = /:\/\/[^/\s]*@/;

/** Options of these names would hold a key; their values are never shown. */
const SECRET_OPTION = /key|token(?!s)|secret|password|credential/i;

export interface FoundProblem extends Pick<ConfigurationProblem, 'code' | 'message'> {
  readonly path: readonly PropertyKey[];
}

export interface WrittenOptions {
  readonly value: unknown;
  /** Path of the options within the whole configuration: empty for the file, `agents.<name>` for one agent. */
  readonly below: readonly string[];
  /** All that there are, of the whole configuration. */
  readonly options: z.ZodType;
}

/** `agents.reviewer.tools[0]` */
export function optionPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`))
    .join('');
}

/** Words what zod found wrong: the offending value, what is accepted, and what was probably meant. */
export function describeOptionProblems(issues: readonly z.core.$ZodIssue[], written: WrittenOptions): FoundProblem[] {
  return issues.flatMap((issue) => describeIssue(issue, written));
}

function describeIssue(issue: z.core.$ZodIssue, written: WrittenOptions): FoundProblem[] {
  const { path } = issue;
  const value = valueAt(written.value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownOption([...path, key], written));
    case 'invalid_key':
      return [
        { code: 'wrong_value', path, message: `is not a valid name: it ${issue.issues[0]?.message ?? 'is wrong'}` },
      ];
    case 'invalid_union': {
      // `false` or a map of options: whoever wrote a map wants to know what is wrong in it.
      const inner = issue.errors.find((errors) =>
        errors.some((error) => error.path.length > 0 || error.code === 'unrecognized_keys'),
      );
      const issues = inner?.map((error) => Object.assign({}, error, { path: path.concat(error.path) }));
      return (
        issues?.flatMap((error) => describeIssue(error, written)) ?? [
          wrongValue(path, value, 'must be false or a map of options'),
        ]
      );
    }
    case 'invalid_type':
      if (value === undefined)
        return [{ code: 'missing_option', path, message: `is missing: it must be ${kind(issue.expected)}` }];
      return [wrongValue(path, value, `must be ${kind(issue.expected)}${formAt(path, written)}`)];
    case 'invalid_value': {
      const accepted = issue.values.map(String);
      return [
        wrongValue(
          path,
          value,
          `must be one of ${accepted.join(', ')}${typeof value === 'string' ? didYouMean(value, accepted) : ''}`,
        ),
      ];
    }
    case 'too_small':
      return [
        wrongValue(
          path,
          value,
          issue.minimum === 1 && issue.origin === 'string'
            ? 'must not be empty'
            : `must ${issue.origin === 'array' ? 'have' : 'be'} ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`,
        ),
      ];
    case 'too_big':
      return [wrongValue(path, value, `must be at most ${issue.maximum}`)];
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'not_multiple_of':
      return [wrongValue(path, value, issue.message)];
  }
}

function wrongValue(path: readonly PropertyKey[], value: unknown, accepted: string): FoundProblem {
  return { code: 'wrong_value', path, message: `${shown(path, value)}${accepted}` };
}

function shown(path: readonly PropertyKey[], value: unknown): string {
  if (value === null) return 'is empty: it ';
  if (typeof value === 'object' || value === undefined || SECRET_OPTION.test(String(path.at(-1)))) return '';
  const text = JSON.stringify(value) ?? '';
  if (HOLDS_PASSWORD.test(text)) return '';
  return `is ${text.length > 60 ? `${text.slice(0, 60)}…` : text}: it `;
}

function unknownOption(path: readonly PropertyKey[], { below, options }: WrittenOptions): FoundProblem {
  const key = String(path.at(-1));
  const known = optionNamesAt(options, [...below, ...path.slice(0, -1)]);
  if (SECRET_OPTION.test(key) && path[0] === 'providers') {
    const message =
      'is refused: keys never stand in the file. Put it into an environment variable and name that with apiKeyVariable';
    return { code: 'secret_in_file', path, message };
  }
  const accepted = `there are: ${known.join(', ')}`;
  return { code: 'unknown_option', path, message: `is not an option${didYouMean(key, known)} (${accepted})` };
}

function kind(expected: string): string {
  const kinds: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map of options',
    record: 'a map by name',
  };
  return kinds[expected] ?? expected;
}

/** What is written at a path; `undefined` where nothing is. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.entries(value).find(([name]) => name === String(key))?.[1];
  }, input);
}

/** What a map of options looks like that was given as something else; empty for what is no map. */
function formAt(path: readonly PropertyKey[], { below, options }: WrittenOptions): string {
  const node = schemaAt(options, [...below, ...path]);
  if (property(node, 'isAmount') === true) return ', such as { fraction: 0.5 } or { tokens: 20000 }';
  if (property(node, 'isPrompt') === true) return ", such as { text: 'Summarize …' }";
  const names = namesIn(node);
  return names.length === 0 ? '' : ` (there are: ${names.join(', ')})`;
}

/** Names of the options below a path, read from the schema. */
function optionNamesAt(options: z.ZodType, path: readonly PropertyKey[]): string[] {
  return namesIn(schemaAt(options, path));
}

function schemaAt(options: z.ZodType, path: readonly PropertyKey[]): unknown {
  let node: unknown = z.toJSONSchema(options, { io: 'input' });
  for (const key of path) {
    node =
      property(node, 'properties', String(key)) ?? property(node, 'additionalProperties') ?? property(node, 'items');
    node = alternatives(node).find((one) => property(one, 'properties') !== undefined) ?? node;
  }
  return node;
}

function namesIn(node: unknown): string[] {
  const properties = property(node, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

function alternatives(node: unknown): readonly unknown[] {
  const found = property(node, 'anyOf');
  return Array.isArray(found) ? found : [];
}

function property(node: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).find(([key]) => key === name)?.[1]
        : undefined,
    node,
  );
}
