import { openDisplay } from '../../src/cli/follow/display.ts';
import type { Output } from '../../src/cli/output.ts';
import { itemLines } from '../../src/cli/render/turn/item-lines.ts';
import { drawBar, formatCount, formatDuration, formatPercent } from '../../src/cli/render/text/numbers.ts';
import type { TurnItem } from '../../src/cli/render/turn/turn-items.ts';
import { applyEvent, startState } from '../../src/cli/render/turn/turn-state.ts';
import type { ListedEntry, TimelineEvent } from '../../src/client/types.ts';
import type { Kill } from './workers.ts';

/** A kill of the worker and, once the turn has gone on, how long that took. */
export interface Takeover extends Kill {
  /** From the kill to the first event after it; `null` as long as there is none. */
  readonly milliseconds: number | null;
}

/** Between two lines about files in a pipe. */
const FILES_PER_LINE = 10;
const BAR_COLUMNS = 30;

/** Kinds of the turn's own items that are news here; the rest is in the status line. */
const SHOWN: ReadonlySet<TurnItem['kind']> = new Set(['compaction_begun', 'compaction_done', 'notice']);

/** Shows the demo while it goes on, and knows how far it came: a turn's screen on a terminal, lines with their time in a pipe. */
export class DemoScreen {
  readonly filesRead = new Set<string>();
  takeovers: readonly Takeover[] = [];
  #worker: number | null = null;
  #state;
  readonly #display;
  readonly #output: Output;
  readonly #window: number;
  readonly #files: ReadonlySet<string>;
  readonly #startedAt: number;

  constructor(output: Output, job: { window: number; files: readonly string[]; startedAt: number }) {
    this.#output = output;
    this.#window = job.window;
    this.#files = new Set(job.files);
    this.#startedAt = job.startedAt;
    this.#state = startState(job.startedAt);
    this.#display = output.repaints ? openDisplay(output, () => this.#hint()) : null;
  }

  /** @param entry the entry that the event tells of, when it could be read */
  event(event: TimelineEvent, entry: ListedEntry | null): void {
    const at = Date.parse(event.createdAt);
    const { state, items } = applyEvent({ ...this.#state, heardAt: at, inputBudget: this.#window }, event, entry);
    this.#state = state;
    this.#goesOn(at);
    const before = this.filesRead.size;
    for (const item of items) {
      const isRead = item.kind === 'tool' && item.name === 'read_file' && item.outcome === 'succeeded';
      const path = isRead ? pathArgument(item.arguments ?? '') : null;
      // The report is read again too.
      if (path !== null && this.#files.has(path)) this.filesRead.add(path);
    }
    const { size } = this.filesRead;
    if (this.#display === null && Math.floor(size / FILES_PER_LINE) > Math.floor(before / FILES_PER_LINE)) {
      this.#line(`${this.#filesWords()} read, ${this.#windowWords()}`);
    }
    this.#show(items.filter(({ kind }) => SHOWN.has(kind)));
  }

  killed(kill: Kill): void {
    this.takeovers = [...this.takeovers, { ...kill, milliseconds: null }];
    this.#worker = null;
    this.#tell(
      `✗ kill ${this.takeovers.length}: SIGKILL of worker ${kill.processId}, ${kill.words} (${kill.crashPoint})`,
      'warning',
    );
  }

  /** Which worker process serves from now on. */
  serves(processId: number): void {
    this.#worker = processId;
  }

  close(): void {
    this.#display?.close();
  }

  /** The first event after a death shows that the turn goes on. */
  #goesOn(at: number): void {
    const last = this.takeovers.at(-1);
    if (last === undefined || last.milliseconds !== null || at <= last.at) return;
    const milliseconds = at - last.at;
    this.takeovers = [...this.takeovers.slice(0, -1), { ...last, milliseconds }];
    const worker = this.#worker === null ? 'another worker' : `worker ${this.#worker}`;
    const time = formatDuration(milliseconds);
    this.#tell(
      `✓ takeover ${this.takeovers.length}: ${worker} goes on with ${last.activity} after ${time}`,
      'information',
    );
  }

  #tell(text: string, level: 'information' | 'warning'): void {
    if (this.#display === null) this.#line(text);
    else this.#show([{ kind: 'notice', level, text }]);
  }

  #show(items: readonly TurnItem[]): void {
    if (this.#display !== null) this.#display.show(this.#state, items);
    else {
      const { style } = this.#output;
      for (const line of items.flatMap((item) => itemLines(item, { columns: null, style }))) this.#line(line.trim());
    }
  }

  #line(text: string): void {
    const time = `${((Date.now() - this.#startedAt) / 1_000).toFixed(1).padStart(6)} s`;
    this.#output.lines([`${this.#output.style.dim(time)}  ${text}`]);
  }

  #hint(): string {
    const { filled, empty } = drawBar(this.filesRead.size / Math.max(1, this.#files.size), BAR_COLUMNS);
    return `▕${filled}${empty}▏ ${this.#filesWords()} · window ${this.#windowWords()}`;
  }

  #filesWords(): string {
    return `${this.filesRead.size} of ${this.#files.size} files`;
  }

  #windowWords(): string {
    const { tokens } = this.#state;
    return `${formatCount(tokens ?? 0)} of ${formatCount(this.#window)} tokens (${formatPercent(tokens ?? 0, this.#window)})`;
  }
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
