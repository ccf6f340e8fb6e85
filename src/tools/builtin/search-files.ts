import { lstat } from 'node:fs/promises';
import type { RE2JS } from 're2js';
import { z } from 'zod';
import { counted, wholeCharacters } from '../files/text.ts';
import { defineTool } from '../define-tool.ts';
import { fileError, ToolError } from '../errors.ts';
import { globTest, DIRECTORIES_NOT_ENTERED, walkFiles } from '../files/walk-files.ts';
import { compilePattern, searchFile } from '../files/search-file.ts';
import type { FoundLine } from '../files/search-file.ts';
import { SEARCH_FILES } from '../runtime/names.ts';
import { locate, openFile, requireExisting, type ExistingLocation } from '../files/workspace.ts';

const DEFAULT_MATCHES = 100;
const MOST_MATCHES = 1_000;

/** Characters of a matching line that are shown. */
const SHOWN_CHARACTERS = 250;

/** Characters kept free for the last line. */
const FOOTER_CHARACTERS = 300;

export const searchFiles = defineTool({
  name: SEARCH_FILES,
  description:
    'Searches the text files of the workspace line by line for a regular expression (no lookaheads or backreferences). Shows ' +
    `path, line number and line. Binary files and what is in ${DIRECTORIES_NOT_ENTERED.join(', ')} are passed over, unless path names them.`,
  input: z.strictObject({
    pattern: z.string().min(1).describe('Regular expression, matched against each line; case counts.'),
    path: z.string().optional().describe('File or directory to search, relative to the workspace. Default: all of it.'),
    glob: z.string().optional().describe('Only files whose path matches, like *.ts or src/**/*.{ts,tsx}.'),
    ignore_case: z.boolean().optional().describe('Upper and lower case are the same. Default: false.'),
    limit: z
      .number()
      .int()
      .min(1)
      .max(MOST_MATCHES)
      .optional()
      .describe(`Matching lines to show at most. Default: ${DEFAULT_MATCHES}.`),
  }),
  effect: 'none',
  async run({ pattern, path = '.', glob, ignore_case: ignoreCase = false, limit = DEFAULT_MATCHES }, context) {
    const expression = compilePattern(pattern, ignoreCase);
    const wanted = glob === undefined ? () => true : globTest(glob);
    const place = requireExisting(await locate(context, path));
    const report = createReport(limit, context.resultLimit - FOOTER_CHARACTERS);
    for await (const file of filesToSearch(place, context.signal)) {
      if (!wanted(file.display)) continue;
      const found = await searchIn(file, expression, report.room() + 1, context.signal);
      report.files += 1;
      if (found === null) report.skipped += 1;
      else for (const match of found) report.add(file.display, match);
      if (report.full) break;
    }
    return { content: report.text(pattern) };
  },
});

/** The file itself when the path names one, else all files below. */
async function* filesToSearch(place: ExistingLocation, signal: AbortSignal): AsyncGenerator<ExistingLocation> {
  const found = await lstat(place.existing).catch((error: unknown) => {
    throw fileError(error, place.display);
  });
  if (!found.isDirectory()) {
    // If this one cannot be read, its error says why.
    await (await openFile(place)).close();
    yield place;
    return;
  }
  for await (const entry of walkFiles(place, { recursive: true, signal })) {
    if (entry.kind === 'file') yield entry;
  }
}

/** `null`: the file is binary, gone or not readable. */
async function searchIn(
  file: ExistingLocation,
  expression: RE2JS,
  limit: number,
  signal: AbortSignal,
): Promise<readonly FoundLine[] | null> {
  try {
    const handle = await openFile(file);
    try {
      return await searchFile(handle, expression, limit, signal);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return null;
  }
}

function createReport(limit: number, characters: number) {
  const lines: string[] = [];
  let used = 0;
  return {
    files: 0,
    skipped: 0,
    full: false,
    room: () => limit - lines.length,
    add(path: string, match: FoundLine): void {
      const line = `${path}:${match.line}: ${excerpt(match)}`;
      if (lines.length >= limit || used + line.length + 1 > characters) {
        this.full = true;
        return;
      }
      lines.push(line);
      used += line.length + 1;
    },
    text(pattern: string): string {
      const skipped = this.skipped === 0 ? '' : `; ${this.skipped} not searched (binary or not readable)`;
      if (lines.length === 0)
        return `[nothing matches ${JSON.stringify(pattern)} in ${counted(this.files, 'file')}${skipped}]`;
      const more = this.full ? '; there are more: narrow pattern, path or glob' : '';
      return `${lines.join('\n')}\n[${counted(lines.length, 'matching line')}, ${counted(this.files, 'file')} searched${skipped}${more}]`;
    },
  };
}

/** The part of a long line around its match. */
function excerpt(match: FoundLine): string {
  if (match.text.length <= SHOWN_CHARACTERS) return match.text;
  const from = Math.max(0, Math.min(match.column - 80, match.text.length - SHOWN_CHARACTERS));
  const to = from + SHOWN_CHARACTERS;
  return `${from > 0 ? '…' : ''}${wholeCharacters(match.text.slice(from, to))}${to < match.text.length ? '…' : ''}`;
}
