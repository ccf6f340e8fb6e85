/** A file that the agent is to read. */
export interface JobFile {
  /** Relative to the workspace, with slashes. */
  readonly path: string;
  /** The file as it stands on the disk. */
  readonly bytes: Uint8Array;
}

/** A value that the agent is to find, with the value that the demo found by code of its own. */
export interface AskedFact {
  /** Column of the report. */
  readonly column: string;
  /** What is asked, in the task's words. */
  readonly words: string;
  readonly value: string;
}

/** One row of the report. */
export interface JobItem {
  /** First cell of the row. */
  readonly label: string;
  readonly files: readonly JobFile[];
  readonly facts: readonly AskedFact[];
}

/** What the agent is asked to do, and what must come out. */
export interface Job {
  /** What one row is about: `package`, `e-mail`, `file`. */
  readonly noun: string;
  /** Begins the task: what the files are. */
  readonly description: string;
  readonly items: readonly JobItem[];
  /** Sentences that make the questions exact. */
  readonly remarks: readonly string[];
}

export function filesOf(job: Job): readonly JobFile[] {
  return job.items.flatMap((item) => item.files);
}

export function byteCount(files: readonly JobFile[]): number {
  return files.reduce((sum, file) => sum + file.bytes.length, 0);
}

/** Columns that any item is asked for, in the order of their first mention. */
export function columnsOf(job: Job): readonly string[] {
  return [...new Set(job.items.flatMap((item) => item.facts.map((fact) => fact.column)))];
}

export function factCount(job: Job): number {
  return job.items.reduce((sum, item) => sum + item.facts.length, 0);
}
