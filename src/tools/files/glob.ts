import { ToolError } from '../errors.ts';

/** Longest glob, in characters. */
const GLOB_LIMIT = 500;

/** Most globs that one with braces may stand for. */
const ALTERNATIVES_LIMIT = 256;

type Wildcard<Item> = 'any_number' | ((item: Item) => boolean);

/**
 * A test for paths relative to the workspace. `*` and `?` stay within a name, `**` crosses directories,
 * `{a,b}` and `[a-z]` as usual. A glob without `/` is compared with the file's name at any depth, like ripgrep's.
 * Its time grows with length of glob times length of path: a translation into a regular expression would backtrack
 * for minutes on some globs, and models write them.
 * @throws ToolError `input_refused` for an open brace or too many alternatives.
 */
export function globTest(glob: string): (path: string) => boolean {
  if (glob.length > GLOB_LIMIT) {
    throw new ToolError('input_refused', `The glob is longer than ${GLOB_LIMIT} characters.`);
  }
  const anchored = glob.startsWith('/') ? glob.slice(1) : glob.includes('/') ? glob : `**/${glob}`;
  const alternatives = expandBraces(anchored, glob).map((one) => compilePath(one));
  return (path) => {
    const names = path.split('/');
    return alternatives.some((pattern) => matches(pattern, names));
  };
}

function expandBraces(glob: string, original: string): readonly string[] {
  const open = glob.search(/(?<!\\)\{/);
  if (open === -1) return [glob];
  let depth = 0;
  let from = open + 1;
  const choices: string[] = [];
  for (let at = open; at < glob.length; at += 1) {
    const character = glob[at];
    if (character === '\\') at += 1;
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if ((character === ',' && depth === 1) || depth === 0) {
      choices.push(glob.slice(from, at));
      from = at + 1;
    }
    if (depth > 0) continue;
    const expanded = choices.flatMap((choice) =>
      expandBraces(glob.slice(0, open) + choice + glob.slice(from), original),
    );
    if (expanded.length <= ALTERNATIVES_LIMIT) return expanded;
    throw new ToolError('input_refused', `The glob ${original} stands for more than ${ALTERNATIVES_LIMIT} globs.`);
  }
  throw new ToolError('input_refused', `The glob ${original} has a "{" without "}".`);
}

function compilePath(glob: string): readonly Wildcard<string>[] {
  const names = glob.split('/');
  // What ends with ** means everything below, not the directory itself.
  if (names.at(-1) === '**') names.push('*');
  return names.map((name) => {
    if (name === '**') return 'any_number';
    const pattern = compileName(name);
    return (candidate) => matches(pattern, Array.from(candidate));
  });
}

function compileName(glob: string): readonly Wildcard<string>[] {
  const characters = Array.from(glob);
  const pattern: Wildcard<string>[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at];
    if (character === '*') {
      if (pattern.at(-1) !== 'any_number') pattern.push('any_number');
    } else if (character === '?') {
      pattern.push(() => true);
    } else if (character === '[' && characters.includes(']', at + 2)) {
      const end = characters.indexOf(']', at + 2);
      pattern.push(compileSet(characters.slice(at + 1, end)));
      at = end;
    } else {
      if (character === '\\' && at + 1 < characters.length) at += 1;
      const literal = characters[at];
      pattern.push((candidate) => candidate === literal);
    }
  }
  return pattern;
}

/** `[a-z_]`, `[!a-z]` */
function compileSet(body: readonly string[]): (candidate: string) => boolean {
  const negated = body[0] === '!' || body[0] === '^';
  const members = negated ? body.slice(1) : body;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const [from = '', dash, to] = members.slice(at);
    const isRange = dash === '-' && to !== undefined;
    ranges.push([from, isRange ? to : from]);
    if (isRange) at += 2;
  }
  return (candidate) => ranges.some(([from, to]) => from <= candidate && candidate <= to) !== negated;
}

/** Greedy with one step back: after a mismatch the last `any_number` takes one item more. */
function matches<Item>(pattern: readonly Wildcard<Item>[], items: readonly Item[]): boolean {
  let at = 0;
  let retry: { at: number; index: number } | null = null;
  for (let index = 0; index < items.length;) {
    const wildcard = pattern[at];
    const item = items[index];
    if (wildcard === 'any_number') {
      at += 1;
      retry = { at, index };
    } else if (wildcard !== undefined && item !== undefined && wildcard(item)) {
      at += 1;
      index += 1;
    } else if (retry !== null) {
      retry.index += 1;
      ({ at, index } = retry);
    } else {
      return false;
    }
  }
  return pattern.slice(at).every((wildcard) => wildcard === 'any_number');
}
