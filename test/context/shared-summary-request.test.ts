import { describe, expect, test } from 'vitest';
import { sharedSummaryView } from '../../src/context/summary/shared-summary-request.ts';
import type { SharedRequestInput } from '../../src/context/summary/shared-summary-request.ts';
import { NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { PI_POLICY } from '../../src/context/policy/presets/pi.ts';
import { textOf } from '../../src/context/log/content.ts';
import { LogBuilder } from './builders.ts';

const log = new LogBuilder();
log.user('Read the logs.');
log.step(['the whole of a long log']);
log.answer('Pump four is the one that leaks.');
const ENTRIES = log.entries;

function input(overrides: Partial<SharedRequestInput> = {}): SharedRequestInput {
  const part = {
    number: 1,
    wave: 1,
    kind: 'history',
    fromSequence: 1,
    toSequence: 3,
    inputTokens: 10,
    maximumOutput: 1_000,
  } as const;
  return {
    policy: DEFAULT_POLICY,
    parts: [part],
    part,
    entries: ENTRIES.slice(0, 3),
    focus: 'the pumps',
    agent: { instructions: 'You are a plumber.', rules: [], tools: [] },
    turnIsOpen: true,
    summarizer: { window: 32_000, maximumOutput: 8_000 },
    calibration: NO_CALIBRATION,
    view: { system: 'You are a plumber.', tools: [], messages: [{ role: 'user', content: [], origin: 'user' }] },
    viewTokens: 20_000,
    shown: ENTRIES,
    operations: [],
    firstKeptSequence: 4,
    thinkingRoom: 0,
    ...overrides,
  };
}

function orderOf(request: ReturnType<typeof sharedSummaryView>): string {
  const last = request?.view.messages.at(-1);
  return last?.role === 'user' ? textOf(last.content) : '';
}

describe('R27 a summary behind the last request', () => {
  test('repeats the view and adds one message: what stays, the sections, the focus, and that no tool is to be called', () => {
    const request = sharedSummaryView(input());
    expect(request?.view.messages.slice(0, -1)).toEqual(input().view.messages);
    expect(request?.view).toMatchObject({ system: 'You are a plumber.', tools: [] });
    expect(request?.promptVersion).toBe('working-summary.shared-prefix@1');
    const order = orderOf(request);
    for (const words of ['Pump four is the one', 'do not call tools', '## Open Items', 'the pumps']) {
      expect(order).toContain(words);
    }
    // Both stand in the request already.
    expect(order).not.toContain('You are a plumber.');
    expect(order).not.toContain('the whole of a long log');
  });

  test('quotes the originals of what the view shows shorter, and gives way to a transcript when they do not fit', () => {
    const id = ENTRIES[2]?.id ?? '';
    const measurements = ENTRIES[2]?.measurements;
    if (measurements === undefined) throw new TypeError('the entry is there');
    const operations = [{ kind: 'clear', entryId: id, measurements } as const];
    expect(orderOf(sharedSummaryView(input({ operations })))).toContain('the whole of a long log');
    const large = { ...measurements, letters: 1_000_000 };
    const entries = ENTRIES.slice(0, 3).map((entry) =>
      entry.id === id ? Object.assign({}, entry, { measurements: large }) : entry,
    );
    expect(sharedSummaryView(input({ operations, entries }))).toBeNull();
  });

  test('is not asked for when it does not fit the window beside the answer and its thinking, or by presets whose document has a transcript', () => {
    expect(sharedSummaryView(input({ viewTokens: 26_500 }))).not.toBeNull();
    expect(sharedSummaryView(input({ viewTokens: 26_500, thinkingRoom: 4_000 }))).toBeNull();
    expect(sharedSummaryView(input({ viewTokens: 31_000 }))).toBeNull();
    expect(sharedSummaryView(input({ policy: PI_POLICY }))).toBeNull();
  });
});
