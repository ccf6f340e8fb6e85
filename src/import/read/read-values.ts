import { constants } from 'node:buffer';
import { open, readFile } from 'node:fs/promises';
import { isRecord, parseJson, property } from '../../models/protocols/json.ts';
import { SessionFileError } from '../session-error.ts';
import { FORMATS } from '../importers/formats.ts';
import { stringOf } from '../importers/content.ts';
import { formatOf, formatOfMost } from './detect-format.ts';
import type { SessionFormat } from './detect-format.ts';
import type { ImportCounter } from './import-report.ts';
import { valuesOfLine } from './line-values.ts';
import type { LineValue } from './line-values.ts';
import { listedMessages, readPlaces } from './places.ts';
import type { Arrangement, Place } from './places.ts';
import { readLines } from './read-lines.ts';

/** What an importer takes, or the beginning of the next conversation of a document. */
type Value = { readonly value: unknown } | { readonly session: string | null };

export interface ReadValues {
  readonly format: SessionFormat;
  values(): AsyncIterable<Value> | Iterable<Value>;
}

/** The beginning of a file, as text, and the bytes that it has in all. */
export interface FileHead {
  readonly text: string;
  readonly bytes: number;
}

/** Values that tell the format of a file, and what they may have together. Bytes. */
const DECIDING_VALUES = 200;
const DECIDING_BYTES = 32 * 1024 * 1024;

const FORMATS_SAID =
  'Claude Code, Codex, pi, Gemini CLI and GitHub Copilot CLI write JSON lines; message lists of the OpenAI API may be lines or a JSON document.';

/** The values of a file in the order in which they are to be taken. @throws SessionFileError `session_format_unknown` */
export async function readValues(file: string, head: FileHead, counter: ImportCounter): Promise<ReadValues> {
  const document = await readDocument(file, head);
  return document === undefined ? valuesOfLines(file, counter) : valuesOfDocument(file, document, counter);
}

/** The one value of a file; `undefined` when it has lines with a value each. */
async function readDocument(file: string, { text, bytes }: FileHead): Promise<unknown> {
  const beginning = withoutNul(text);
  const [first = ''] = beginning.split(/[\r\n]/u, 1);
  const isOfLines = first.length < beginning.length && isRecord(parseJson(first));
  if (isOfLines || bytes > constants.MAX_STRING_LENGTH) return undefined;
  return parseJson(withoutNul(await readFile(file, 'utf8')));
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
  const format = formatOfMost(messages.slice(0, DECIDING_VALUES));
  if (format === null) throw unknownFormat(file);
  counter.values += messages.length;
  return { format, values: () => values };
}

function idIn(value: unknown): string[] {
  return typeof value === 'number' ? [String(value)] : [stringOf(value) ?? []].flat();
}

type Found = LineValue & { readonly place: Place };

/** Read twice: first to learn which of its values the session consists of, and then those, in their order. */
async function valuesOfLines(file: string, counter: ImportCounter): Promise<ReadValues> {
  const arranged = new ArrangedLines(file, counter);
  for await (const found of findValues(file, counter)) arranged.add(found);
  const { format, places } = arranged.end();
  return {
    format,
    async *values() {
      const handle = await open(file, 'r');
      try {
        for await (const value of readPlaces(handle, places)) yield { value };
      } finally {
        await handle.close();
      }
    },
  };
}

async function* findValues(file: string, counter: ImportCounter): AsyncGenerator<Found> {
  for await (const line of readLines(file)) {
    if (line.kind === 'too_long') {
      counter.problem('line_too_long', line.number);
      continue;
    }
    const { number, offset, bytes } = line;
    const { values, isDamaged, isUtf8 } = valuesOfLine(bytes);
    if (isDamaged) counter.problem(line.ended ? 'line_not_json' : 'line_cut_off', number);
    else if (!isUtf8) counter.problem('line_not_utf8', number);
    for (const [index, value] of values.entries()) {
      yield { ...value, place: { line: number, offset, length: bytes.length, index } };
    }
  }
}

/** Waits with the first values until they tell the format. */
class ArrangedLines {
  private known: { readonly format: SessionFormat; readonly arrangement: Arrangement } | null = null;
  private waiting: Found[] = [];
  private bytes = 0;
  private readonly file: string;
  private readonly counter: ImportCounter;

  constructor(file: string, counter: ImportCounter) {
    this.file = file;
    this.counter = counter;
  }

  add(found: Found): void {
    if (this.known !== null) return this.arrange(found, this.known);
    this.waiting.push(found);
    this.bytes += found.place.length;
    if (this.waiting.length < DECIDING_VALUES && this.bytes < DECIDING_BYTES) return;
    this.decide();
    if (this.known === null && this.waiting.length >= DECIDING_VALUES) throw unknownFormat(this.file);
  }

  end(): { readonly format: SessionFormat; readonly places: readonly Place[] } {
    if (this.known === null) this.decide();
    if (this.known === null) throw unknownFormat(this.file);
    const { format, arrangement } = this.known;
    return { format, places: arrangement.places() };
  }

  private decide(): void {
    const format = formatOfMost(this.waiting.map(({ value }) => value));
    if (format === null) return;
    this.known = { format, arrangement: FORMATS[format].arrangement(this.counter) };
    for (const found of this.waiting) this.arrange(found, this.known);
    this.waiting = [];
  }

  private arrange({ value, isSalvaged, place }: Found, { format, arrangement }: NonNullable<typeof this.known>): void {
    if (isSalvaged && formatOf(value) !== format) return this.counter.problem('line_not_json', place.line);
    this.counter.values += 1;
    arrangement.add(value, place);
  }
}

function unknownFormat(file: string): SessionFileError {
  return new SessionFileError('session_format_unknown', `${file} is no session of a known format.`, FORMATS_SAID);
}
