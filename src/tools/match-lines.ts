import { createContext, Script } from 'node:vm';
import { ToolError } from './errors.ts';

/** Milliseconds that a pattern may take for one piece of text. It blocks the worker for so long, so it must be short. */
const PATTERN_MILLISECONDS = 250;

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
 * Compiles a regular expression written by a model. One that backtracks without end is interrupted: V8 checks for
 * termination while it backtracks, so the time limit of a script also ends a pattern that it runs.
 * @throws ToolError `input_refused` when it is not valid or takes too long.
 */
export function createLineMatcher(pattern: string, ignoreCase: boolean): LineMatcher {
  const expression = compile(pattern, ignoreCase ? 'i' : '');
  const sandbox = { task: (): readonly LineMatch[] => [] };
  const context = createContext(sandbox);
  const script = new Script('task()');
  return {
    match(text, limit) {
      let found: readonly LineMatch[] = [];
      sandbox.task = () => (found = matchLines(expression, text, limit));
      try {
        script.runInContext(context, { timeout: PATTERN_MILLISECONDS });
        return found;
      } catch (error) {
        throw new ToolError(
          'input_refused',
          `The pattern takes too long (it backtracks): avoid nested repetition such as (a+)+ or (.*)*.`,
          { cause: error },
        );
      }
    },
  };
}

function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : 'not valid';
    throw new ToolError(
      'input_refused',
      `The pattern is not a valid JavaScript regular expression: ${reason}. Put a \\ before ( ) [ ] { } . * + ? to find them literally.`,
      { cause: error },
    );
  }
}

function matchLines(expression: RegExp, text: string, limit: number): LineMatch[] {
  const matches: LineMatch[] = [];
  let line = 0;
  for (let start = 0; start <= text.length && matches.length < limit; line += 1) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const content = text.slice(start, text[end - 1] === '\r' ? Math.max(start, end - 1) : end);
    const found = expression.exec(content);
    if (found !== null) matches.push({ line, column: found.index, text: content });
    start = end + 1;
  }
  return matches;
}
