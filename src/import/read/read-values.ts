import { open } from 'node:fs/promises';
import { SessionFileError } from '../session-error.ts';
import { FORMATS } from '../importers/formats.ts';
import { formatOf, formatOfMost } from './detect-format.ts';
import type { SessionFormat } from './detect-format.ts';
import type { ImportCounter } from './import-report.ts';
import type { Layout } from './layout.ts';
import { valuesOfLine } from './line-values.ts';
import { readPlaces } from './places.ts';
import type { Arrangement, Place } from './places.ts';
import { readDocument } from './read-document.ts';
import { readLines } from './read-lines.ts';

/** What an importer takes, or the beginning of the next conversation of a document. */
type Value = { readonly value: unknown } | { readonly session: string | null };

export interface ReadValues {
  readonly format: SessionFormat;
  values(): AsyncIterable<Value>;
}

/** Values that tell the format of a file, and what they may have together. Bytes. */
const DECIDING_VALUES = 200;
const DECIDING_BYTES = 32 * 1024 * 1024;

const FORMATS_SAID =
  'Claude Code, Codex, pi, Gemini CLI and GitHub Copilot CLI write JSON lines; message lists of the OpenAI API may be lines or a JSON document.';

/** The values of a file in the order in which they are to be taken. @throws SessionFileError `session_format_unknown` */
export async function readValues(file: string, layout: Layout, counter: ImportCounter): Promise<ReadValues> {
  return layout.kind === 'lines' ? valuesOfLines(file, counter) : valuesOfDocument(file, layout, counter);
}

type Found =
  | { readonly kind: 'value'; readonly value: unknown; readonly isSalvaged: boolean; readonly place: Place }
  | { readonly kind: 'damage'; readonly text: string };

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
      yield { kind: 'damage', text: '' };
      continue;
    }
    const { number, offset, bytes } = line;
    const { values, damage, isUtf8 } = valuesOfLine(bytes);
    if (damage !== null) {
      counter.problem(line.ended ? 'line_not_json' : 'line_cut_off', number);
      yield { kind: 'damage', text: damage };
    } else if (!isUtf8) counter.problem('line_not_utf8', number);
    for (const [index, { value, isSalvaged }] of values.entries()) {
      yield { kind: 'value', value, isSalvaged, place: { line: number, offset, length: bytes.length, index } };
    }
  }
}

/** Waits with the first values until they tell the format. */
class ArrangedLines {
  private known: { readonly format: SessionFormat; readonly arrangement: Arrangement } | null = null;
  private waiting: Found[] = [];
  private values = 0;
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
    this.bytes += found.kind === 'damage' ? found.text.length : found.place.length;
    if (found.kind === 'value') this.values += 1;
    if (this.values < DECIDING_VALUES && this.bytes < DECIDING_BYTES) return;
    this.decide();
    if (this.known === null && this.values >= DECIDING_VALUES) throw unknownFormat(this.file);
  }

  end(): { readonly format: SessionFormat; readonly places: readonly Place[] } {
    if (this.known === null) this.decide();
    if (this.known === null) throw unknownFormat(this.file);
    const { format, arrangement } = this.known;
    return { format, places: arrangement.places() };
  }

  private decide(): void {
    const format = formatOfMost(this.waiting.flatMap((found) => (found.kind === 'value' ? [found.value] : [])));
    if (format === null) return;
    this.known = { format, arrangement: FORMATS[format].arrangement(this.counter) };
    for (const found of this.waiting) this.arrange(found, this.known);
    this.waiting = [];
  }

  private arrange(found: Found, { format, arrangement }: NonNullable<typeof this.known>): void {
    if (found.kind === 'damage') return arrangement.addDamaged(found.text);
    const { value, isSalvaged, place } = found;
    if (isSalvaged && formatOf(value) !== format) return this.counter.problem('line_not_json', place.line);
    this.counter.values += 1;
    arrangement.add(value, place);
  }
}

async function valuesOfDocument(
  file: string,
  layout: Extract<Layout, { kind: 'document' }>,
  counter: ImportCounter,
): Promise<ReadValues> {
  const elements = documentValues(file, layout, counter);
  const waiting: Value[] = [];
  let format: SessionFormat | null = null;
  while (format === null) {
    const next = await elements.next();
    if (next.done === true || waiting.length === DECIDING_VALUES) throw unknownFormat(file);
    waiting.push(next.value);
    format = 'value' in next.value ? formatOf(next.value.value) : null;
  }
  return {
    format,
    async *values() {
      yield* waiting;
      yield* elements;
    },
  };
}

async function* documentValues(
  file: string,
  layout: Extract<Layout, { kind: 'document' }>,
  counter: ImportCounter,
): AsyncGenerator<Value> {
  const elements = readDocument(file, layout.shape);
  for (;;) {
    let next;
    try {
      next = await elements.next();
    } catch {
      counter.problem('document_cut_off');
      return;
    }
    if (next.done === true) return;
    if (next.value.kind === 'conversation') yield { session: next.value.id };
    else {
      counter.values += 1;
      yield { value: next.value.value };
    }
  }
}

function unknownFormat(file: string): SessionFileError {
  return new SessionFileError('session_format_unknown', `${file} is no session of a known format.`, FORMATS_SAID);
}
