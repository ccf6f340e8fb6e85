import type { ListedEntry, TimelineEvent } from '../../src/client/types.ts';
import type { TurnItem } from '../../src/cli/render/turn/turn-items.ts';
import { applyEvent, startState } from '../../src/cli/render/turn/turn-state.ts';
import type { TurnScreenState } from '../../src/cli/render/turn/turn-state.ts';
import type { Kill } from './workers.ts';

/** A kill and how the turn went on after it. */
export interface Takeover extends Kill {
  /** From the worker's death to the turn's next event, milliseconds; `null` as long as there is none. */
  readonly milliseconds: number | null;
}

/** What the screen shows of the demo. Never changed, only replaced. */
export interface DemoProgress {
  readonly turn: TurnScreenState;
  /** Tokens. */
  readonly window: number;
  /** Paths of the task's files. */
  readonly files: ReadonlySet<string>;
  /** Those of which a page was read. */
  readonly filesRead: ReadonlySet<string>;
  /** Path that the newest call reads or writes. */
  readonly newestPath: string | null;
  readonly compactions: number;
  readonly takeovers: readonly Takeover[];
  /** Process of the running worker. */
  readonly workerProcessId: number | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** What happened, to be shown for good. */
export type DemoItem =
  | { readonly kind: 'turn'; readonly item: TurnItem }
  | { readonly kind: 'killed'; readonly kill: Kill; readonly number: number }
  | {
      readonly kind: 'taken_over';
      readonly takeover: Takeover;
      readonly number: number;
      readonly workerProcessId: number | null;
    }
  | { readonly kind: 'files'; readonly count: number };

export interface Applied {
  readonly progress: DemoProgress;
  readonly items: readonly DemoItem[];
}

export function startProgress(input: {
  readonly window: number;
  readonly files: Iterable<string>;
  readonly now: number;
}): DemoProgress {
  return {
    turn: startState(input.now),
    window: input.window,
    files: new Set(input.files),
    filesRead: new Set(),
    newestPath: null,
    compactions: 0,
    takeovers: [],
    workerProcessId: null,
    startedAt: input.now,
  };
}

/** Between two lines about files in a pipe. */
const FILES_PER_LINE = 10;

/** Kinds of the turn's own items that are news here; the rest is in the bars. */
const SHOWN: ReadonlySet<TurnItem['kind']> = new Set(['compaction_begun', 'compaction_done', 'notice']);

/** @param entry the entry that the event tells of, when it could be read */
export function withEvent(progress: DemoProgress, event: TimelineEvent, entry: ListedEntry | null): Applied {
  const at = Date.parse(event.createdAt);
  const applied = applyEvent({ ...progress.turn, heardAt: at }, event, entry);
  const over = takeOver(progress, at);
  const path = event.kind === 'tool_call_finished' ? pathOfCall(progress.turn, event.data) : null;
  const filesRead =
    path !== null &&
    // The report is read again too.
    progress.files.has(path) &&
    entry?.isError === false &&
    event.kind === 'tool_call_finished' &&
    event.data.name === 'read_file'
      ? new Set([...progress.filesRead, path])
      : progress.filesRead;
  const line = Math.floor(filesRead.size / FILES_PER_LINE) > Math.floor(progress.filesRead.size / FILES_PER_LINE);
  return {
    progress: {
      ...progress,
      turn: applied.state,
      filesRead,
      newestPath: path ?? progress.newestPath,
      compactions: progress.compactions + (event.kind === 'compaction_committed' ? 1 : 0),
      takeovers: over.takeovers,
    },
    items: [
      ...over.items,
      ...(line ? [{ kind: 'files' as const, count: filesRead.size }] : []),
      ...applied.items.filter(({ kind }) => SHOWN.has(kind)).map((item): DemoItem => ({ kind: 'turn', item })),
    ],
  };
}

export function withKill(progress: DemoProgress, kill: Kill): Applied {
  const takeovers = [...progress.takeovers, { ...kill, milliseconds: null }];
  return {
    progress: { ...progress, takeovers, workerProcessId: null },
    items: [{ kind: 'killed', kill, number: takeovers.length }],
  };
}

export function withWorker(progress: DemoProgress, workerProcessId: number): DemoProgress {
  return { ...progress, workerProcessId };
}

/** The first event after a death shows that the turn goes on. */
function takeOver(
  progress: DemoProgress,
  at: number,
): { readonly takeovers: readonly Takeover[]; readonly items: readonly DemoItem[] } {
  const { takeovers, workerProcessId } = progress;
  const last = takeovers.at(-1);
  if (last === undefined || last.milliseconds !== null || at <= last.at) return { takeovers, items: [] };
  const takeover = { ...last, milliseconds: at - last.at };
  return {
    takeovers: [...takeovers.slice(0, -1), takeover],
    items: [{ kind: 'taken_over', takeover, number: takeovers.length, workerProcessId }],
  };
}

function pathOfCall(
  { calls }: TurnScreenState,
  { callNumber, callIndex }: { readonly callNumber: number; readonly callIndex: number },
): string | null {
  return pathArgument(calls.get(`${callNumber}:${callIndex}`)?.arguments ?? '');
}

/** The path in a tool call's arguments; `null` when there is none, or no JSON. */
export function pathArgument(argumentsText: string): string | null {
  try {
    const parsed: unknown = JSON.parse(argumentsText);
    const value: unknown = typeof parsed === 'object' && parsed !== null && 'path' in parsed ? parsed.path : null;
    return typeof value === 'string' ? value.replace(/^\.\//u, '') : null;
  } catch {
    // A model may write what is no JSON.
    return null;
  }
}
