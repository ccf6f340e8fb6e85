import { constants } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { isRecord, parseJson, property } from '../../models/protocols/json.ts';
import { SessionFileError } from '../session-error.ts';
import { FORMATS } from '../importers/formats.ts';
import { stringOf } from '../importers/content.ts';
import { formatOf, formatOfMost } from './detect-format.ts';
import type { SessionFormat } from './detect-format.ts';
import type { ImportCounter } from './import-report.ts';
import { valuesOfLine } from './line-values.ts';
import type { LineValue } from './line-values.ts';
import { listedMessages } from './arrangement.ts';
import { readLines } from './read-lines.ts';

/** What an importer takes, or the beginning of the next conversation of a document. */
type Value = { readonly value: unknown } | { readonly session: string | null };

export interface ReadValues {
  readonly format: SessionFormat;
  readonly values: readonly Value[];
}

/** Values that tell the format of a file. */
const DECIDING_VALUES = 200;

const FORMATS_SAID =
  'Claude Code, Codex, pi, Gemini CLI and GitHub Copilot CLI write JSON lines; message lists of the OpenAI API may be lines or a JSON document.';

/** The values of a file in the order in which they are to be taken. @throws SessionFileError */
export async function readValues(file: string, bytes: number, counter: ImportCounter): Promise<ReadValues> {
  const document =
    (await beginsWithObject(file)) || bytes > constants.MAX_STRING_LENGTH
      ? undefined
      : parseJson(withoutNul(await readFile(file, 'utf8')));
  return document === undefined ? valuesOfLines(file, counter) : valuesOfDocument(file, document, counter);
}

/** Whether the first of several lines is an object, so that each is a value of its own. */
async function beginsWithObject(file: string): Promise<boolean> {
  let isObject = false;
  for await (const line of readLines(file)) {
    if (isObject) return true;
    isObject = line.kind === 'line' && isRecord(valuesOfLine(line.bytes).values[0]?.value);
    if (!isObject) return false;
  }
  return false;
}

/** A disk that lost some of a file fills it with NUL; `trim` takes a byte order mark away too. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '').trim();
}

function valuesOfDocument(file: string, document: unknown, counter: ImportCounter): ReadValues {
  const all: readonly unknown[] = Array.isArray(document) ? document : [document];
  const values: Value[] = [];
  for (const each of all) {
    const messages = listedMessages(each);
    const [id = null] = ['sessionId', 'id', 'task_id', 'session_id'].flatMap((name) => idIn(property(each, name)));
    if (messages !== null) values.push({ session: id });
    for (const value of messages ?? [each]) values.push({ value });
  }
  const messages = values.flatMap((each) => ('value' in each ? [each.value] : []));
  counter.values += messages.length;
  return { format: formatOfFile(file, messages), values };
}

function idIn(value: unknown): string[] {
  return typeof value === 'number' ? [String(value)] : [stringOf(value) ?? []].flat();
}

async function valuesOfLines(file: string, counter: ImportCounter): Promise<ReadValues> {
  const found = await findValues(file, counter);
  const format = formatOfFile(
    file,
    found.map(({ value }) => value),
  );
  const arrangement = FORMATS[format].arrangement(counter);
  for (const { value, isSalvaged, line } of found) {
    if (isSalvaged && formatOf(value) !== format) counter.problem('line_not_json', line);
    else {
      counter.values += 1;
      arrangement.add(value);
    }
  }
  return { format, values: arrangement.values().map((value) => ({ value })) };
}

async function findValues(file: string, counter: ImportCounter) {
  const found: (LineValue & { readonly line: number })[] = [];
  let isBlank = true;
  for await (const line of readLines(file)) {
    if (line.kind === 'too_long') {
      counter.problem('line_too_long', line.number);
      isBlank = false;
      continue;
    }
    const { values, isDamaged, isUtf8 } = valuesOfLine(line.bytes);
    if (isDamaged) counter.problem(line.ended ? 'line_not_json' : 'line_cut_off', line.number);
    else if (!isUtf8) counter.problem('line_not_utf8', line.number);
    for (const value of values) found.push({ ...value, line: line.number });
    isBlank &&= values.length === 0 && !isDamaged;
  }
  if (isBlank)
    throw new SessionFileError('session_empty', `${file} is empty.`, 'Name a file that holds a recorded session.');
  return found;
}

function formatOfFile(file: string, values: readonly unknown[]): SessionFormat {
  const format = formatOfMost(values.slice(0, DECIDING_VALUES));
  if (format !== null) return format;
  throw new SessionFileError(
    'session_format_unknown',
    `${file} is no session of a known format, or it is cut off.`,
    FORMATS_SAID,
  );
}
