import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { itemLines } from '../../../../src/cli/render/turn/item-lines.ts';
import { formatClock } from '../../../../src/cli/render/text/numbers.ts';
import { COLOR_STYLE, PLAIN_STYLE, withoutStyle } from '../../../../src/cli/render/text/style.ts';
import { displayWidth } from '../../../../src/cli/render/text/text-width.ts';
import { quietWarning, screenLines } from '../../../../src/cli/render/turn/turn-screen.ts';
import { startState } from '../../../../src/cli/render/turn/turn-state.ts';
import type { TurnScreenState } from '../../../../src/cli/render/turn/turn-state.ts';
import { EXAMPLE_EVENTS } from '../../../support/example-events.ts';
import { BEGIN, TURN_ID, play, timelineEvent } from '../timeline.ts';

const compacting: TurnScreenState = play([
  timelineEvent('turn_begun', { agent: 'default', model: 'm', preset: 'default' }),
  timelineEvent('compaction_started', { parts: 2 }, 1),
]).state;

const busy: TurnScreenState = {
  ...startState(BEGIN),
  turnId: TURN_ID,
  steps: 11,
  tokens: 24_310,
  inputBudget: 28_672,
  cost: 0.0132,
  activity: { kind: 'calling', call: { callNumber: 12, attempt: 1 } },
  live: {
    turnId: TURN_ID,
    callNumber: 12,
    attempt: 1,
    text: { shown: 'Das ist 日本語 🚀 '.repeat(80), nextOffset: 1_200 },
    thinking: { shown: '', nextOffset: 0 },
    calls: new Map([
      [
        0,
        {
          name: 'write_file',
          arguments: { shown: `{"path":"日本語.md","content":"${'word '.repeat(90)}`, nextOffset: 480 },
        },
      ],
    ]),
  },
  tools: Array.from({ length: 12 }, (_, callIndex) => ({
    reference: { callNumber: 12, callIndex, name: 'read_file', attempt: 1 },
    arguments: '{"path":"docs/日本語/very/long/path/that/goes/on.md"}',
    since: BEGIN,
  })),
};

const limited: TurnScreenState = play(
  [
    timelineEvent('turn_waiting', {
      reason: 'call_or_token_limit',
      provider: 'a-provider-of-a-long-name',
      delayMilliseconds: 60_000,
    }),
  ],
  compacting,
).state;

const options = { columns: 80, rows: 24, style: PLAIN_STYLE, now: BEGIN + 1_200, hint: 'Ctrl-C leaves' };

describe('the screen of a running turn', () => {
  test('fits every terminal: no line wider, never more rows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 200 }),
        fc.integer({ min: 2, max: 60 }),
        fc.constantFrom(busy, compacting, limited, startState(BEGIN)),
        fc.constantFrom(PLAIN_STYLE, COLOR_STYLE),
        fc.integer({ min: 0, max: 100_000 }),
        (columns, rows, state, style, later) => {
          const lines = screenLines(state, { ...options, columns, rows, style, now: BEGIN + later });
          expect(lines.length).toBeLessThan(rows);
          for (const line of lines) expect(displayWidth(withoutStyle(line))).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });

  test('a tool call is shown while its arguments are written: what it is about, and what comes just now', () => {
    const written = `{"path":"report.md","content":"${'A long line of text. '.repeat(20)}and here it stops`;
    const live = { ...busy.live, text: { shown: '', nextOffset: 0 } } as NonNullable<TurnScreenState['live']>;
    const calls = new Map([[0, { name: 'write_file', arguments: { shown: written, nextOffset: written.length } }]]);
    const lines = screenLines({ ...busy, tools: [], live: { ...live, calls } }, { ...options, columns: 80 });
    expect(lines.find((line) => line.includes('write_file'))).toMatch(
      /^ {2}✎ write_file \{"path":"report\.md",.*… .*and here it stops$/,
    );
    expect(lines.at(-2)).toContain('writing');
  });

  test('the status line says step, window, cost and what it does', () => {
    const lines = screenLines({ ...busy, tools: [], live: null }, { ...options, columns: 100 });
    expect(lines.at(-2)).toMatch(
      /calling the model .*▕█+.*▏.* step 12 .* 24,310 of 28,672 tokens \(85 %\) .* \$0\.0132/u,
    );
    expect(lines.at(-1)).toBe('Ctrl-C leaves');
  });

  test('the status line says for which provider a turn waits, why and until when, and that the call comes once it is due', () => {
    const data = { reason: 'call_limit', delayMilliseconds: 65_000, provider: 'simulator' } as const;
    const { state } = play([timelineEvent('turn_begun'), timelineEvent('turn_waiting', data)]);
    const status = (shown: TurnScreenState, seconds: number): string =>
      screenLines(shown, { ...options, columns: 100, now: BEGIN + seconds * 1_000 }).at(-2) ?? '';
    const clock = formatClock(BEGIN + 65_000, BEGIN);
    // Zones differ by quarters of an hour too.
    expect(clock).toBe(new Date(BEGIN + 65_000).toTimeString().slice(0, 8));
    expect(status(state, 5)).toContain(`waiting for simulator: limit of calls, until ${clock} · step 1`);
    expect(status(state, 66)).toContain('waiting to call the model again');
    const compactingToo = { ...state, compaction: compacting.compaction };
    expect(status(compactingToo, 5)).toContain(`compacting, waiting for simulator: limit of calls, until ${clock}`);
    expect(status(compactingToo, 66)).toMatch(/^. compacting ·/u);
  });

  test('a narrow terminal drops figures before what goes on', () => {
    expect(screenLines({ ...busy, tools: [], live: null }, { ...options, columns: 40 }).at(-2)).toContain(
      'calling the model',
    );
    expect(screenLines({ ...busy, tools: [], live: null }, { ...options, columns: 12 }).at(-2)).toMatch(/^. calling/u);
  });

  test('the newest text stays in sight', () => {
    const shown = `${'old line\n'.repeat(100)}newest line`;
    const live = {
      turnId: TURN_ID,
      callNumber: 12,
      attempt: 1,
      text: { shown, nextOffset: 0 },
      thinking: { shown: '', nextOffset: 0 },
      calls: new Map(),
    };
    const lines = screenLines({ ...busy, tools: [], live }, options);
    expect(lines).toContain('newest line');
    expect(lines.length).toBeLessThan(20);
  });

  test('W35 the card of a running compaction counts the parts that are written', () => {
    const text = screenLines(compacting, options).join('\n');
    expect(text).toContain('compacting · the window is filling');
    expect(text).toContain('31,204 tokens');
    expect(text).toContain('0 of 2 parts written');
  });
});

describe('when nobody works', () => {
  test('a message that no worker takes for some seconds says what to do', () => {
    const waiting = startState(BEGIN);
    expect(quietWarning(waiting, BEGIN + 2_000)).toBeNull();
    expect(quietWarning(waiting, BEGIN + 5_000)).toContain('npx holdfast worker');
  });

  test('a turn without news says so later, a running tool later still', () => {
    expect(quietWarning({ ...busy, tools: [] }, BEGIN + 20_000)).toBeNull();
    expect(quietWarning({ ...busy, tools: [] }, BEGIN + 31_000)).toContain('No news for 31 s');
    expect(quietWarning(busy, BEGIN + 31_000)).toBeNull();
  });

  test('a turn that waits for its provider is not taken for one without a worker until the wait is over', () => {
    const data = { reason: 'call_limit', delayMilliseconds: 120_000, provider: 'simulator' } as const;
    const { state } = play([timelineEvent('turn_begun'), timelineEvent('turn_waiting', data)]);
    expect(quietWarning(state, BEGIN + 110_000)).toBeNull();
    expect(quietWarning(state, BEGIN + 140_000)).toBeNull();
    expect(quietWarning(state, BEGIN + 151_000)).toContain('No news for 31 s');
  });

  test('a Postgres that does not answer is told also while a person decides and while the provider is waited for', () => {
    const asking = { kind: 'asking', calls: ['1.1.0'] } as const;
    const { state } = play([timelineEvent('turn_waiting', { delayMilliseconds: 120_000 })]);
    for (const waiting of [{ ...startState(BEGIN), activity: asking }, state]) {
      expect(quietWarning(waiting, BEGIN + 60_000)).toBeNull();
      expect(quietWarning({ ...waiting, outageSince: BEGIN }, BEGIN + 60_000)).toContain(
        'Postgres has not answered for 60 s',
      );
    }
  });

  test('a turn that ended says nothing', () => {
    const { state } = play([timelineEvent('turn_ended', { outcome: 'completed', reason: null })]);
    expect(quietWarning(state, BEGIN + 1e7)).toBeNull();
  });
});

describe('lines that stay', () => {
  const tool = {
    kind: 'tool',
    name: 'read_file',
    arguments: '{"path":"docs/a.md","offset":200}',
    outcome: 'succeeded',
    bytes: 8_600,
    failure: null,
    durationMilliseconds: 140,
  } as const;

  test('a tool call is one line: name, arguments, size, duration', () => {
    expect(itemLines(tool, { columns: 60, style: PLAIN_STYLE })).toEqual([
      '  ✓ read_file docs/a.md offset=200           8.4 KB    0.1 s',
    ]);
    expect(itemLines(tool, { columns: null, style: PLAIN_STYLE })).toEqual([
      '  ✓ read_file docs/a.md offset=200  8.4 KB  0.1 s',
    ]);
  });

  test('a failed call says why on a second line', () => {
    const failed = { ...tool, outcome: 'failed', failure: 'no such file:\n docs/a.md' } as const;
    expect(itemLines(failed, { columns: null, style: PLAIN_STYLE })[1]).toBe('    no such file: docs/a.md');
    const failure =
      'Outcome unknown: this call began, and its process died. Check before you repeat it.\n\nIt had written 2 bytes';
    const unknown = { ...tool, outcome: 'outcome_unknown', failure } as const;
    expect(itemLines(unknown, { columns: 50, style: PLAIN_STYLE })).toEqual([
      expect.stringContaining('? read_file'),
      '    Outcome unknown: this call began, and its',
      '    process died. Check before you repeat it.',
    ]);
  });

  const done = {
    kind: 'compaction_done',
    done: { ...EXAMPLE_EVENTS.compaction_committed, operations: 12, coveredThroughSequence: 203 },
  } as const;

  test('W36 a finished compaction shows messages changed, tokens before and after, and duration', () => {
    expect(itemLines(done, { columns: 80, style: PLAIN_STYLE })).toEqual([
      expect.stringMatching(/^ {2}╭─ compacted · the window is filling ─+$/u),
      '  │ 31,204 → 14,880 tokens (−52 %)',
      '  │ summary through entry 203 · 12 entries shown shorter · 4.1 s',
      expect.stringMatching(/^ {2}╰─+$/u),
    ]);
    expect(itemLines(done, { columns: null, style: PLAIN_STYLE })).toEqual([
      '  = compaction done: 31,204 → 14,880 tokens (−52 %), summary through entry 203, 12 entries shown shorter, the window is filling, 4.1 s',
    ]);
  });

  test("a user's message and an answer keep their lines", () => {
    expect(itemLines({ kind: 'user', text: 'one\ntwo' }, { columns: 40, style: PLAIN_STYLE })).toEqual([
      '',
      '> one',
      '  two',
      '',
    ]);
    expect(itemLines({ kind: 'answer', text: 'one\ntwo' }, { columns: 40, style: PLAIN_STYLE })).toEqual([
      '',
      'one',
      'two',
    ]);
  });
});
