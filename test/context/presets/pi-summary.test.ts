import { describe, expect, test } from 'vitest';
import { checkSummary, partPolicy } from '../../../src/context/summary/check-summary.ts';
import { textOf } from '../../../src/context/log/content.ts';
import { NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { extendFileLists, renderFileLists, splitLists } from '../../../src/context/summary/summary-message.ts';
import type { PlanPart } from '../../../src/context/plan/plan.ts';
import { PI_POLICY } from '../../../src/context/policy/presets/pi.ts';
import { summaryView } from '../../../src/context/summary/summary-request.ts';
import type { SummaryRequestInput } from '../../../src/context/summary/summary-request.ts';
import { AGENT, LogBuilder, prose } from '../builders.ts';
import { LARGE } from './counted.ts';

const part = (kind: PlanPart['kind'], number = 1): PlanPart => ({
  number,
  wave: 1,
  kind,
  fromSequence: 1,
  toSequence: 3,
  inputTokens: 1_000,
  maximumOutput: 2_000,
});

function asked(change: Partial<SummaryRequestInput> = {}): { system: string; text: string; version: string } {
  const log = new LogBuilder();
  log.user('Read docs/a.md.');
  log.step([prose(50_000)], { said: 'I read it.' });
  const { view, promptVersion } = summaryView({
    policy: partPolicy(PI_POLICY, change.part ?? part('history')),
    parts: [part('history')],
    part: part('history'),
    entries: log.entries,
    previousSummary: null,
    partTexts: [],
    focus: null,
    agent: AGENT,
    turnIsOpen: false,
    summarizer: LARGE,
    calibration: NO_CALIBRATION,
    ...change,
  });
  const [message] = view.messages;
  const text = message !== undefined && 'content' in message ? textOf(message.content) : '';
  expect(view.tools).toEqual([]);
  return { system: view.system, text, version: promptVersion };
}

const headings = (text: string): string[] => [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1] ?? '');

describe('prompts', () => {
  test('P17 the six sections are asked for, with Done, In Progress and Blocked under Progress', () => {
    const { text } = asked();
    expect(headings(text)).toEqual([
      'Goal',
      'Constraints & Preferences',
      'Progress',
      'Key Decisions',
      'Next Steps',
      'Critical Context',
    ]);
    const progress = text.slice(text.indexOf('## Progress'), text.indexOf('## Key Decisions'));
    expect([...progress.matchAll(/^### (.+)$/gm)].map((match) => match[1])).toEqual(['Done', 'In Progress', 'Blocked']);
  });

  test('P17 a text that lacks one of them is refused', () => {
    const titles = PI_POLICY.summary.sections.map((section) => section.title);
    const answer = (kept: readonly string[]) =>
      checkSummary({
        policy: PI_POLICY,
        text: kept.map((title) => `## ${title}\n- something`).join('\n'),
        stopReason: 'end',
        calledTool: false,
        maximumOutputTokens: 1_000,
      });
    expect(answer(titles).ok).toBe(true);
    for (const title of titles) expect(answer(titles.filter((each) => each !== title)).ok, title).toBe(false);
  });

  test('P18 with a previous summary the update prompt is used, which merges instead of summarizing anew', () => {
    const first = asked();
    const next = asked({ previousSummary: 'THE PREVIOUS ONE' });
    expect(first.version).toBe('checkpoint.history@1');
    expect(next.version).toBe('checkpoint.update@1');
    expect(next.text).toContain('<previous_summary>\nTHE PREVIOUS ONE\n</previous_summary>');
    expect(next.text).toMatch(/KEEP everything/);
    expect(next.text).toMatch(/MOVE what is finished from In Progress to Done/);
    expect(next.text).toMatch(/ADD what is new/);
  });

  test('P15 the prefix of a split turn has its own prompt and headings, and does not read the previous summary', () => {
    const parts = [part('history'), part('turn_prefix', 2)];
    const { text, version } = asked({ parts, part: part('turn_prefix', 2), previousSummary: 'THE PREVIOUS ONE' });
    expect(version).toBe('checkpoint.turn-prefix@1');
    expect(headings(text)).toEqual(['Original Request', 'Early Progress', 'Context for Suffix']);
    expect(text).not.toContain('THE PREVIOUS ONE');
  });

  test('P15 D5 the history beside it reads the previous summary', () => {
    const parts = [part('history'), part('turn_prefix', 2)];
    expect(asked({ parts, previousSummary: 'THE PREVIOUS ONE' }).text).toContain('THE PREVIOUS ONE');
  });

  test('P19 the system prompt forbids going on with the conversation and wants the summary only', () => {
    const { system } = asked();
    expect(system).toMatch(/Do NOT continue the conversation/);
    expect(system).toMatch(/ONLY output the structured summary/);
  });

  test('P19 an answer that calls a tool is no summary', () => {
    const call = { policy: PI_POLICY, text: 'x', stopReason: 'tool_calls', calledTool: true } as const;
    expect(checkSummary({ ...call, maximumOutputTokens: 1_000 })).toEqual({ ok: false, problem: 'tool_call' });
  });

  test('P19 tool results are cut to 2,000 characters of their beginning', () => {
    const { text } = asked();
    const result = /<tool_result[^>]*>\n([\s\S]*?)\n<\/tool_result>/.exec(text)?.[1] ?? '';
    expect(result.length).toBeLessThanOrEqual(2_000);
    expect(result.startsWith(prose(50_000).slice(0, 1_900))).toBe(true);
  });

  test('P38 a focus that the user gave stands in the request', () => {
    expect(asked({ focus: 'the migration' }).text).toContain('the migration');
  });
});

describe('files', () => {
  const tools = PI_POLICY.summary.fileLists ?? { read: [], modified: [] };
  const call = (name: string, path: string) => ({ name, arguments: JSON.stringify({ path }) });
  const none = { read: [], modified: [] };

  test('P21 read, write and edit calls of the dropped messages make the lists', () => {
    const calls = [call('read_file', 'src/b.ts'), call('read_file', 'Makefile'), call('search_files', 'x/y')];
    expect(extendFileLists({ earlier: none, calls, tools })).toEqual({ read: ['Makefile', 'src/b.ts'], modified: [] });
    const changed = extendFileLists({
      earlier: none,
      calls: [call('write_file', 'a.ts'), call('edit_file', 'b.ts')],
      tools,
    });
    expect(changed).toEqual({ read: [], modified: ['a.ts', 'b.ts'] });
  });

  test('P21 the lists of the compaction before are carried on', () => {
    const earlier = { read: ['old.ts'], modified: ['older.ts'] };
    const lists = extendFileLists({ earlier, calls: [call('read_file', 'new.ts')], tools });
    expect(lists).toEqual({ read: ['new.ts', 'old.ts'], modified: ['older.ts'] });
  });

  test('P21 a file that was modified, now or before, is not among the read ones', () => {
    const calls = [call('read_file', 'a.ts'), call('edit_file', 'a.ts'), call('read_file', 'b.ts')];
    const lists = extendFileLists({ earlier: { read: ['a.ts'], modified: ['b.ts'] }, calls, tools });
    expect(lists).toEqual({ read: [], modified: ['a.ts', 'b.ts'] });
  });

  test('P21 they are written in tags, and taken out again before a model reads the summary', () => {
    const text = renderFileLists({ read: ['a.ts', 'b.ts'], modified: ['c.ts'] });
    expect(text).toBe('<read-files>\na.ts\nb.ts\n</read-files>\n\n<modified-files>\nc.ts\n</modified-files>');
    expect(splitLists(`## Goal\nX\n\n${text}`).written).toBe('## Goal\nX');
    expect(renderFileLists(none)).toBe('');
  });
});
