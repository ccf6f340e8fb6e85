import { describe, expect, test } from 'vitest';
import { sharedSummaryView } from '../../src/context/summary/summary-request.ts';
import type { SharedRequestInput } from '../../src/context/summary/summary-request.ts';
import type { Entry } from '../../src/context/log/entry.ts';
import { NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { fixedMeasurements } from '../../src/context/view/system-text.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { PI_POLICY } from '../../src/context/policy/presets/pi.ts';
import { clipOperation } from '../../src/context/log/operations.ts';
import { textOf } from '../../src/context/log/content.ts';
import { projectView } from '../../src/context/view/project-view.ts';
import { LogBuilder } from './builders.ts';

const log = new LogBuilder();
log.user('Read the logs.');
log.step(['the whole of a long log '.repeat(100)]);
log.answer('Pump four is the one that leaks.');
const ENTRIES = log.entries;
const AGENT = { instructions: 'You are a plumber.', rules: [], tools: [] };
const SHOWN = { agent: AGENT, policy: DEFAULT_POLICY, entries: ENTRIES, summary: null, operations: [] };
const cleared = ({ id, measurements }: Entry) => ({ kind: 'clear', entryId: id, measurements }) as const;
const PART = { number: 1, wave: 1, kind: 'history', inputTokens: 10, maximumOutput: 1_000 } as const;

function input(overrides: Partial<SharedRequestInput> = {}): SharedRequestInput {
  return {
    policy: DEFAULT_POLICY,
    plan: { form: 'summary', parts: [PART] },
    reason: 'threshold',
    part: PART,
    failures: 0,
    entries: ENTRIES.slice(0, 3),
    focus: 'the pumps',
    agent: AGENT,
    turnIsOpen: true,
    summarizer: { window: 32_000, maximumOutput: 8_000 },
    calibration: NO_CALIBRATION,
    shown: SHOWN,
    fixed: fixedMeasurements(AGENT),
    thinkingRoom: 0,
    ...overrides,
  };
}

function orderOf(request: ReturnType<typeof sharedSummaryView>): string {
  const last = request?.view.messages.at(-1);
  return last?.role === 'user' ? textOf(last.content) : '';
}

describe('R27 a summary behind the last request', () => {
  test('repeats it up to the cut and adds one message with the sections, the focus, and that no tool is to be called', () => {
    const request = sharedSummaryView(input());
    const last = projectView(SHOWN);
    const messages = request?.view.messages ?? [];
    expect(messages.slice(0, -1)).toEqual(last.messages.slice(0, messages.length - 1));
    // What stays after the cut is not for the summary: another branch may go on without it.
    expect(JSON.stringify(messages)).not.toContain('Pump four');
    expect(request?.view).toMatchObject({ system: last.system, tools: last.tools });
    const text = orderOf(request);
    for (const words of ['do not call tools', '## Open Items', 'the pumps']) expect(text).toContain(words);
    expect(text).not.toContain('You are a plumber.');
  });

  test('summarizes a result that it shows shortened as the agent saw it', () => {
    const operations = ENTRIES.slice(2, 3).map((entry) => clipOperation(entry, { head: 100, tail: 100 }));
    const request = sharedSummaryView(input({ shown: { ...SHOWN, operations } }));
    expect(orderOf(request)).toContain('## Open Items');
    expect(JSON.stringify(request?.view).split('a long log').length).toBeLessThan(15);
  });

  test.each([
    ['it shows nothing of a result any more', { shown: { ...SHOWN, operations: ENTRIES.slice(2, 3).map(cleared) } }],
    [
      'it shows words of the user shortened',
      {
        shown: { ...SHOWN, operations: ENTRIES.slice(0, 1).map((entry) => clipOperation(entry, { head: 5, tail: 0 })) },
      },
    ],
    ['the answer and its thinking do not fit beside it', { thinkingRoom: 31_000 }],
    ['the document of the preset has a transcript', { policy: PI_POLICY }],
    ['the provider refused the last request', { reason: 'overflow' }],
    ['the model went on with its work instead', { failures: 1 }],
    ['the plan has several parts', { plan: { form: 'summary', parts: [PART, PART] } }],
  ] as const)('gives way to a transcript where %s', (_, overrides) => {
    expect(sharedSummaryView(input(overrides))).toBeNull();
  });
});
