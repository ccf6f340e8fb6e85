import { RE2JS } from 're2js';
import { ToolError } from '../errors.ts';

/** Longest glob, in characters. */
const GLOB_LIMIT = 500;

/** Of a glob what means something, longest first; anything else is one character that stands for itself. */
const TOKENS =
  /(?<crossing>(?<=^|\/|[{,])\*\*\/)|(?<below>(?<=^|\/|[{,])\*\*$)|(?<stars>\*+)|\[(?<not>[!^]?)(?<set>\]?[^\]]*)\]|\\(?<escaped>.)|./gsu;

/**
 * A test for paths relative to the workspace. `*` and `?` stay within a name, `**` crosses directories,
 * `{a,b}` and `[a-z]` as usual. A glob without `/` is compared with the file's name at any depth, like ripgrep's.
 * RE2 takes time in proportion to the path: JavaScript's engine would backtrack for minutes on some globs, and models write them.
 * @throws ToolError `input_refused` for a glob that is too long or has an open brace.
 */
export function globTest(glob: string): (path: string) => boolean {
  if (glob.length > GLOB_LIMIT) {
    throw new ToolError('input_refused', `The glob is longer than ${GLOB_LIMIT} characters.`);
  }
  const anchored = glob.startsWith('/') ? glob.slice(1) : glob.includes('/') ? glob : `**/${glob}`;
  const pattern = RE2JS.compile(expressionOf(anchored, glob), RE2JS.DOTALL);
  return (path) => pattern.matches(path);
}

function expressionOf(glob: string, original: string): string {
  let depth = 0;
  const pieces = [...glob.matchAll(TOKENS)].map(({ 0: token, groups = {} }) => {
    const { crossing, below, stars, not, set, escaped } = groups;
    if (crossing !== undefined) return '(?:[^/]*/)*';
    // What ends with ** means everything below, not the directory itself.
    if (below !== undefined) return '.+';
    if (stars !== undefined) return '[^/]*';
    if (set !== undefined && set !== '') return setOf(set, not !== '');
    if (escaped !== undefined) return RE2JS.quote(escaped);
    if (token === '?') return '[^/]';
    if (token === '{') {
      depth += 1;
      return '(?:';
    }
    if (token === '}' && depth > 0) {
      depth -= 1;
      return ')';
    }
    return token === ',' && depth > 0 ? '|' : RE2JS.quote(token);
  });
  if (depth === 0) return pieces.join('');
  throw new ToolError('input_refused', `The glob ${original} has a "{" without "}".`);
}

/** `[a-z_]`, `[!a-z]`; of what stands between the brackets a dash alone has a meaning. */
function setOf(members: string, isNegated: boolean): string {
  const quoted = members.replaceAll(/[\\[\]^&~]/gu, String.raw`\$&`);
  return `[${isNegated ? '^/' : ''}${quoted}]`;
}
