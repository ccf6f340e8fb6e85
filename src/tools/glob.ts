import { ToolError } from './errors.ts';

/** Longest glob, in characters. */
const GLOB_LIMIT = 500;

/**
 * A test for paths relative to the workspace. `*` and `?` stay within a name, `**` crosses directories,
 * `{a,b}` and `[a-z]` as usual. A glob without `/` is compared with the file's name at any depth, like ripgrep's.
 * @throws ToolError `input_refused` for a glob with an open bracket or brace.
 */
export function globTest(glob: string): (path: string) => boolean {
  if (glob.length > GLOB_LIMIT)
    throw new ToolError('input_refused', `The glob is longer than ${GLOB_LIMIT} characters.`);
  const anchored = glob.startsWith('/') ? glob.slice(1) : glob.includes('/') ? glob : `**/${glob}`;
  const pattern = translate(anchored.replaceAll(/\*{3,}/g, '**').replaceAll('**/**/', '**/'), glob);
  return (path) => pattern.test(path);
}

function translate(glob: string, original: string): RegExp {
  let source = '';
  let braces = 0;
  for (let at = 0; at < glob.length;) {
    const [length, piece] = translateAt(glob, at, braces);
    if (glob[at] === '{') braces += 1;
    if (glob[at] === '}' && braces > 0) braces -= 1;
    source += piece;
    at += length;
  }
  if (braces > 0) throw new ToolError('input_refused', `The glob ${original} has a "{" without "}".`);
  try {
    return new RegExp(`^${source}$`, 'su');
  } catch (error) {
    throw new ToolError('input_refused', `The glob ${original} is not valid.`, { cause: error });
  }
}

/** How many characters of the glob are consumed, and what they mean as a regular expression. */
function translateAt(glob: string, at: number, braces: number): readonly [number, string] {
  const character = glob[at] ?? '';
  switch (character) {
    case '*':
      if (glob.startsWith('**/', at)) return [3, '(?:[^/]+/)*'];
      return glob.startsWith('**', at) ? [2, '.*'] : [1, '[^/]*'];
    case '?':
      return [1, '[^/]'];
    case '{':
      return [1, '(?:'];
    case '}':
      return [1, braces > 0 ? ')' : '\\}'];
    case ',':
      return [1, braces > 0 ? '|' : ','];
    case '[': {
      const end = glob.indexOf(']', at + 2);
      if (end === -1) return [1, '\\['];
      const body = glob.slice(at + 1, end).replaceAll(/[\\[\]&~|()/{}]/g, '\\$&');
      return [end + 1 - at, `[${body.startsWith('!') ? `^${body.slice(1)}` : body}]`];
    }
    case '\\': {
      const next = glob[at + 1] ?? '\\';
      return [2, literal(next)];
    }
    default:
      return [1, literal(character)];
  }
}

function literal(character: string): string {
  return character.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
