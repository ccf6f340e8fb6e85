import type { ImportTally, SessionRecord } from '../session-record.ts';
import type { SessionFormat } from './detect-format.ts';

export type ImportProblemCode =
  /** A line of which something is no JSON; a whole record behind that is imported. */
  | 'line_not_json'
  /** A line with bytes that are no UTF-8; they are shown as U+FFFD. */
  | 'line_not_utf8'
  /** The last line ends in the middle: the file was still being written, or was cut. */
  | 'line_cut_off'
  /** A line that is larger than 128 MB. */
  | 'line_too_long'
  /** A tool result whose call is nowhere before it; imported as a message. */
  | 'result_without_call'
  /** A tool call that no result followed; imported with a result that says so. */
  | 'call_without_result';

export interface ImportProblem {
  readonly code: ImportProblemCode;
  readonly count: number;
  /** Lines, the first ones; none where they mean nothing. */
  readonly lines: readonly number[];
}

/** What became of everything that a file holds. */
export interface ImportReport {
  readonly file: string;
  readonly format: SessionFormat;
  readonly bytes: number;
  /** Lines of JSON, or messages of a document. */
  readonly values: number;
  readonly sessions: number;
  /** Records by kind. */
  readonly records: Readonly<Record<SessionRecord['kind'], number>>;
  /** Known and no part of the conversation, by name. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Not known, by name. */
  readonly unknown: Readonly<Record<string, number>>;
  readonly problems: readonly ImportProblem[];
}

/** Line numbers that are named per problem. */
const NAMED_LINES = 5;

/** Counts while a file is read. */
export class ImportCounter implements ImportTally {
  values = 0;
  readonly records: Record<SessionRecord['kind'], number> = {
    session: 0,
    instructions: 0,
    user: 0,
    assistant: 0,
    tool_result: 0,
    compacted: 0,
  };
  private readonly left = new Map<string, number>();
  private readonly unknowns = new Map<string, number>();
  private readonly found = new Map<ImportProblemCode, { count: number; lines: number[] }>();

  leftOut(name: string): void {
    this.left.set(name, (this.left.get(name) ?? 0) + 1);
  }

  unknown(name: string): void {
    this.unknowns.set(name, (this.unknowns.get(name) ?? 0) + 1);
  }

  problem(code: ImportProblemCode, line?: number): void {
    const known = this.found.get(code) ?? { count: 0, lines: [] };
    known.count += 1;
    if (line !== undefined && known.lines.length < NAMED_LINES) known.lines.push(line);
    this.found.set(code, known);
  }

  report(of: { readonly file: string; readonly format: SessionFormat; readonly bytes: number }): ImportReport {
    const byCount = (counts: ReadonlyMap<string, number>): Record<string, number> =>
      Object.fromEntries([...counts].sort((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1)));
    return {
      ...of,
      values: this.values,
      sessions: this.records.session,
      records: { ...this.records },
      leftOut: byCount(this.left),
      unknown: byCount(this.unknowns),
      problems: [...this.found].map(([code, { count, lines }]) => ({ code, count, lines })),
    };
  }
}
