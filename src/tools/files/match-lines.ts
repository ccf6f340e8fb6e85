import { RE2JS } from 're2js';
import { ToolError } from '../errors.ts';

/**
 * Steps of a compiled pattern, each of which may cost something for every character of a text: `.{300}` has about 300. At most, a
 * pattern of this size takes a second for 64 KB.
 */
const LARGEST_PATTERN = 1_000;

interface LineMatch {
  /** From 0 within the text. */
  readonly line: number;
  /** UTF-16 code unit within the line, from 0. */
  readonly column: number;
  readonly text: string;
}

export interface LineMatcher {
  /** Lines of a text that match, at most `limit`, each once. */
  match(text: string, limit: number): readonly LineMatch[];
}

/**
 * Compiles a regular expression written by a model. Its time is linear in the text: JavaScript's own engine can backtrack without
 * end, and blocks the worker meanwhile.
 * @throws ToolError `input_refused` when it is not valid, too large, or needs an engine that backtracks.
 */
export function createLineMatcher(pattern: string, ignoreCase: boolean): LineMatcher {
  const expression = compile(pattern, ignoreCase);
  return { match: (text, limit) => matchLines(expression, text, limit) };
}

function compile(pattern: string, ignoreCase: boolean): RE2JS {
  let expression: RE2JS;
  try {
    const flags = RE2JS.LOOKBEHINDS | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    expression = RE2JS.compile(RE2JS.translateRegExp(pattern), flags);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'not valid';
    throw new ToolError(
      'input_refused',
      `The pattern cannot be searched for: ${reason}. Put a \\ before ( ) [ ] { } . * + ? to find them literally. ` +
        'Backreferences such as \\1 and lookaheads such as (?=x) are not supported.',
      { cause: error },
    );
  }
  if (expression.programSize() <= LARGEST_PATTERN) return expression;
  throw new ToolError(
    'input_refused',
    'The pattern is too large: search for a shorter one, with smaller counts in braces.',
  );
}

function matchLines(expression: RE2JS, text: string, limit: number): LineMatch[] {
  const matches: LineMatch[] = [];
  let line = 0;
  for (let start = 0; start <= text.length && matches.length < limit; line += 1) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const content = text.slice(start, text[end - 1] === '\r' ? Math.max(start, end - 1) : end);
    if (expression.test(content)) matches.push({ line, column: columnOf(expression, content), text: content });
    start = end + 1;
  }
  return matches;
}

function columnOf(expression: RE2JS, content: string): number {
  const matcher = expression.matcher(content);
  return matcher.find() ? matcher.start() : 0;
}
