import type { TemporalAddress } from '../../../src/temporal/profile.ts';

/** Milliseconds that the two bodies besides the model call take, in Holdfast and in the raw workflow alike. */
export const BODY_MILLISECONDS = 20;

export type WorkerKind = 'holdfast' | 'raw';

export const TASK_QUEUES: Readonly<Record<WorkerKind, string>> = { holdfast: 'agent-turn', raw: 'agent-turn-raw' };

/** Of the raw workflow's model calls and tools. */
export const RAW_WORK_QUEUE = 'agent-work-raw';

/** What tools did, in the workspace. */
export const JOURNAL = 'journal.jsonl';

/** When tools were aborted, milliseconds since 1970, in the workspace. */
export const ABORTS = 'aborts.txt';

/** Agent of a small window that reads files. */
export const READER = 'reader';

/** Agent whose turns end after so many seconds. */
export const HURRIED = 'hurried';
export const HURRIED_SECONDS = 3;

/** What a worker process is told on its command line, as JSON. */
export interface WorkerSettings {
  readonly kind: WorkerKind;
  readonly databaseUrl: string;
  readonly temporal: TemporalAddress;
  readonly simulatorUrl: string;
  /** Of the agents. */
  readonly workspace: string;
  /** raw: JSON file with the requests that Holdfast made, one of each step. */
  readonly requestsFile: string | null;
  /** Calls of models and tools at once. */
  readonly concurrentWork: number;
}

/** A worker that takes work. */
export interface MeasuredWorker {
  /** As Temporal and Postgres name it. */
  readonly identity: string;
  readonly ended: Promise<void>;
  shutdown(): void;
}

/** What a worker process says of itself. */
export type WorkerMessage =
  | {
      readonly kind: 'ready';
      /** As Temporal and Postgres name it. */
      readonly identity: string;
    }
  | {
      readonly kind: 'memory';
      readonly residentBytes: number;
      readonly heapBytes: number;
      /** 99th percentile of how late the event loop was since the last question, milliseconds. */
      readonly lateMilliseconds: number;
      /** The longest that it was late since then, milliseconds. */
      readonly latestMilliseconds: number;
    };
