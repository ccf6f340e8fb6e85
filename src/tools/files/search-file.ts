import type { FileHandle } from 'node:fs/promises';
import { RE2JS } from 're2js';
import { ToolError } from '../errors.ts';

/** Searched in one go: other turns of the worker wait for it. */
const CHUNK_BYTES = 64 * 1_024;

/** Bytes in which a NUL tells a binary file from a text, as git does it. */
const PROBED_BYTES = 8_000;

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
 * Searches a file of any size with flat memory.
 * @throws ToolError `not_text` for a binary file.
 */
export async function searchFile(
  file: FileHandle,
  pattern: RE2JS,
  limit: number,
  signal: AbortSignal,
): Promise<readonly FoundLine[]> {
  const decoder = new TextDecoder();
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const found: FoundLine[] = [];
  let line = 1;
  let rest = '';

  function search(text: string): void {
    for (const match of matchLines(pattern, text, limit - found.length)) {
      const at = line + match.line;
      // Another part of a long line that was found already.
      if (found.at(-1)?.line !== at) found.push({ ...match, line: at });
    }
  }

  for (let position = 0; found.length < limit;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    const bytes = chunk.subarray(0, bytesRead);
    if (position === 0 && bytes.subarray(0, PROBED_BYTES).includes(0)) {
      throw new ToolError('not_text', 'The file is binary.');
    }
    if (bytesRead === 0) {
      rest += decoder.decode();
      if (rest !== '') search(rest);
      break;
    }
    position += bytesRead;
    rest += decoder.decode(bytes, { stream: true });
    const complete = rest.length > LONGEST_LINE ? rest.length : rest.lastIndexOf('\n');
    if (complete === -1) continue;
    const whole = rest.slice(0, complete);
    search(whole);
    line += countNewlines(whole) + (rest[complete] === '\n' ? 1 : 0);
    rest = rest.slice(complete + (rest[complete] === '\n' ? 1 : 0));
  }
  return found;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
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

/** Lines of a text that match, each once. Numbered from 0 within the text. */
function matchLines(expression: RE2JS, text: string, limit: number): FoundLine[] {
  const matches: FoundLine[] = [];
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
