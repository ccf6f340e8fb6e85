import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../../src/cli/render/text/text-width.ts';
import { PLAIN_STYLE } from '../../../src/cli/render/text/style.ts';
import type { ListedEntry, TimelineEvent } from '../../../src/client/types.ts';
import { demoItemLines, demoRegion } from '../../../dev/demo/demo-screen.ts';
import { pathArgument, startProgress, withEvent, withKill, withWorker } from '../../../dev/demo/progress.ts';
import type { DemoItem, DemoProgress } from '../../../dev/demo/progress.ts';
import type { EventDataByKind, EventKind } from '../../../src/store/log/timeline.ts';
import { EXAMPLE_EVENTS } from '../../support/example-events.ts';
import { takeover } from './support.ts';

function event<Kind extends EventKind>(
  kind: Kind,
  at: number,
  changes: Partial<EventDataByKind[Kind]> = {},
): TimelineEvent<Kind> {
  const told = { kind, data: { ...EXAMPLE_EVENTS[kind], ...changes } } as TimelineEvent<Kind>;
  return { ...told, sequence: 1, turnId: 'turn', createdAt: new Date(at).toISOString() };
}

function entry(changes: Partial<ListedEntry>): ListedEntry {
  return {
    entryId: 'entry',
    sequence: 1,
    kind: 'tool_result',
    slot: null,
    turnId: 'turn',
    callNumber: 1,
    callIndex: 0,
    toolName: 'read_file',
    isError: false,
    createdAt: new Date(0).toISOString(),
    content: [],
    originalBytes: null,
    compactionId: null,
    lateResults: [],
    ...changes,
  };
}

/** Plays a step that reads a file. */
function read(
  progress: DemoProgress,
  callNumber: number,
  path: string,
  isError = false,
): { progress: DemoProgress; items: readonly DemoItem[] } {
  const call = {
    type: 'tool_call' as const,
    index: 0,
    id: 'id',
    name: 'read_file',
    arguments: JSON.stringify({ path }),
  };
  const answer = entry({ kind: 'assistant', callNumber, content: [call] });
  const answered = withEvent(
    progress,
    event('model_call_answered', 1, { callNumber, attempt: 1, inputTokens: 16_384 }),
    answer,
  );
  const finished = event('tool_call_finished', 2, { callNumber, callIndex: 0, name: 'read_file', attempt: 1 });
  return withEvent(answered.progress, finished, entry({ callNumber, isError }));
}

const NUMBERED = Array.from({ length: 81 }, (_, index) => `file-${index + 1}.md`);
const START = startProgress({ window: 32_768, files: ['hono/README.md', ...NUMBERED], now: 0 });

describe('withEvent', () => {
  it('counts each file once, however many pages were read of it, and none that could not be read or is not of the task', () => {
    let { progress } = read(START, 1, 'hono/README.md');
    ({ progress } = read(progress, 2, './hono/README.md'));
    ({ progress } = read(progress, 3, 'file-1.md', true));
    ({ progress } = read(progress, 4, 'report.md'));
    expect([...progress.filesRead]).toEqual(['hono/README.md']);
    expect(progress.turn.tokens).toBe(16_384);
  });

  it('tells of every tenth file', () => {
    let progress = START;
    const lines: DemoItem[] = [];
    for (let number = 1; number <= 20; number += 1) {
      const step = read(progress, number, `file-${number}.md`);
      progress = step.progress;
      lines.push(...step.items.filter((item) => item.kind === 'files'));
    }
    expect(lines).toEqual([
      { kind: 'files', count: 10 },
      { kind: 'files', count: 20 },
    ]);
  });

  it('takes the first event after a death for the takeover, and none from before it', () => {
    const kill = takeover({ at: 1_000 });
    const killed = withKill(withWorker(START, 1), kill).progress;
    const before = withEvent(killed, event('model_call_started', 990), null);
    expect(before.progress.takeovers[0]?.milliseconds).toBeNull();
    const after = withEvent(withWorker(before.progress, 2), event('model_call_started', 6_200), null);
    expect(after.progress.takeovers[0]?.milliseconds).toBe(5_200);
    expect(after.items[0]).toMatchObject({ kind: 'taken_over', number: 1, workerProcessId: 2 });
    expect(withEvent(after.progress, event('model_call_started', 7_000), null).items).toEqual([]);
  });
});

describe('pathArgument', () => {
  it('reads what a model wrote, JSON or not', () => {
    expect(pathArgument('{"path":"./a.md"}')).toBe('a.md');
    expect(pathArgument('{"path":7}')).toBeNull();
    expect(pathArgument('{"path":"a.m')).toBeNull();
  });
});

describe('demoRegion', () => {
  it.each([20, 40, 80, 200])('fits %i columns', (columns) => {
    const { progress } = read(
      withKill(START, takeover({ milliseconds: null })).progress,
      1,
      'a/very/long/path/to/README.md',
    );
    const lines = demoRegion(progress, { columns, style: PLAIN_STYLE, now: 5_000 });
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
  });

  it('shows files and window as bars with their numbers', () => {
    const { progress } = read(START, 1, 'hono/README.md');
    const text = demoRegion(progress, { columns: 100, style: PLAIN_STYLE, now: 5_000 }).join('\n');
    expect(text).toContain('1 of 82 files');
    expect(text).toContain('16,384 of 32,768 tokens (50 %)');
    expect(text).toContain('1 step');
  });
});

describe('demoItemLines', () => {
  it('begins each line in a pipe with the time since the start', () => {
    const item: DemoItem = { kind: 'killed', kill: takeover(), number: 1 };
    const lines = demoItemLines(item, START, { columns: null, style: PLAIN_STYLE, now: 12_345 });
    expect(lines).toEqual([
      '  12.3 s  ✗ kill 1: SIGKILL of worker 4711, inside a tool call, claimed and not finished (runTool:claimed)',
    ]);
  });
});
