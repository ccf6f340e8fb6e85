import type { FileHandle } from 'node:fs/promises';
import { RE2JS } from 're2js';
import { ToolError } from '../errors.ts';
import { isBinary, readLines } from './read-lines.ts';

/** Characters after which a line without end is searched in parts. */
const LONGEST_LINE = 64 * 1_024;

export interface FoundLine {
  /** From 1. */
  readonly line: number;
  /** UTF-16 code unit in the line, from 0. */
  readonly column: number;
  readonly text: string;
}

/**
 * Searches a file of any size. Each line is found once.
 * @throws ToolError `not_text` for a binary file.
 */
export async function searchFile(
  file: FileHandle,
  pattern: RE2JS,
  limit: number,
  signal: AbortSignal,
): Promise<readonly FoundLine[]> {
  if (await isBinary(file)) throw new ToolError('not_text', 'The file is binary.');
  const found: FoundLine[] = [];
  let rest = '';

  function search(line: number): void {
    const text = rest.replace(line === 1 ? /^\ufeff|\r$/g : /\r$/, '');
    rest = '';
    // Another part of a long line that was found already.
    if (found.at(-1)?.line === line || !pattern.test(text)) return;
    const matcher = pattern.matcher(text);
    found.push({ line, text, column: matcher.find() ? matcher.start() : 0 });
  }

  let last = 1;
  for await (const { line, texts } of readLines(file, signal)) {
    for (const [index, text] of texts.entries()) {
      last = line + index;
      rest += text;
      if (index < texts.length - 1 || rest.length > LONGEST_LINE) search(last);
      if (found.length >= limit) return found;
    }
  }
  if (rest !== '') search(last);
  return found;
}

/**
 * Steps of a compiled pattern, each of which may cost something for every character of a text: `.{300}` has about 300. At most, a
 * pattern of this size takes a second for 64 KB.
 */
const LARGEST_PATTERN = 1_000;

/**
 * Compiles a regular expression written by a model. Its time is linear in the text: JavaScript's own engine can backtrack without
 * end, and blocks the worker meanwhile.
 * @throws ToolError `input_refused` when it is not valid, too large, or needs an engine that backtracks.
 */
export function compilePattern(pattern: string, ignoreCase: boolean): RE2JS {
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
