import { EXIT_CODES } from './exit-codes.ts';
import { printable, printableJson } from './render/text/safe-text.ts';
import { COLOR_STYLE, PLAIN_STYLE } from './render/text/style.ts';
import type { Style } from './render/text/style.ts';

export interface Output {
  readonly style: Style;
  /** Columns of the terminal; `null` when the output goes to a pipe or a file. */
  readonly columns: number | null;
  /** Rows of the terminal. */
  readonly rows: number;
  /** Whether lines can be painted over: a terminal that understands cursor movement. */
  readonly repaints: boolean;
  line(text?: string): void;
  lines(lines: readonly string[]): void;
  /** Escape codes and text as they are: the painter alone composes both. */
  write(text: string): void;
  /** One JSON object on a line. */
  json(value: unknown): void;
  /** To standard error: progress and hints, which do not belong into a pipe. */
  remark(text: string): void;
}

export interface OutputOptions {
  /** Lines only, even on a terminal. Default: false. */
  readonly plain?: boolean;
}

export function openOutput({ plain = false }: OutputOptions = {}): Output {
  const stream = process.stdout;
  const terminal = stream.isTTY;
  const clever = terminal && process.env['TERM'] !== 'dumb';
  const write = (text: string): void => {
    stream.write(text);
  };
  return {
    // Also looks at NO_COLOR, FORCE_COLOR and TERM.
    style: terminal && stream.hasColors() && !plain ? COLOR_STYLE : PLAIN_STYLE,
    get columns() {
      return terminal && !plain ? Math.max(1, stream.columns) : null;
    },
    get rows() {
      return terminal ? Math.max(2, stream.rows) : 24;
    },
    repaints: clever && !plain,
    write,
    line: (text = '') => write(`${printable(text)}\n`),
    lines: (lines) => write(printable(lines.map((line) => `${line}\n`).join(''))),
    json: printJson,
    remark: printRemark,
  };
}

/** One JSON value on a line of standard output. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printableJson(JSON.stringify(value))}\n`);
}

/** A line on standard error. */
export function printRemark(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/**
 * A reader that has seen enough (`| head`) closes the pipe: no error, and nothing more to say. Output that cannot be written, on a
 * full disk, ends the command with words that say so.
 */
export function endWhenPipeCloses(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(
      `error (output): Standard output cannot be written: ${error.message}.\nnext: Make room where it goes, or send it elsewhere.\n`,
    );
    process.exit(EXIT_CODES.usage.code);
  });
}
