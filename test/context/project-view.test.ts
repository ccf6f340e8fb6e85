import { describe, expect, test } from 'vitest';
import { measureContent } from '../../src/context/log/measure.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { clearOperation, clipOperation } from '../../src/context/log/operations.ts';
import type { SummaryInForce } from '../../src/context/plan/plan.ts';
import { projectView } from '../../src/context/view/project-view.ts';
import { OPENCODE_POLICY } from '../../src/context/policy/presets/opencode.ts';
import { DEFAULT_FRAMING, isSummaryMessage, summaryContent } from '../../src/context/summary/summary-message.ts';
import type { ProjectionInput, View } from '../../src/context/view/view.ts';
import { AGENT, LogBuilder, prose, text, viewText } from './builders.ts';
import { expectPaired } from './view-checks.ts';

function project(log: LogBuilder, change: Partial<ProjectionInput> = {}): View {
  return projectView({
    agent: AGENT,
    policy: DEFAULT_POLICY,
    entries: log.entries,
    summary: null,
    operations: [],
    ...change,
  });
}

function summaryAt(
  firstKeptSequence: number,
  keptSequences: readonly number[] = [],
): SummaryInForce & { text: string } {
  return {
    compactionId: 'c1',
    coveredThroughSequence: firstKeptSequence - 1,
    firstKeptSequence,
    keptSequences,
    measurements: measureContent(summaryContent('THE SUMMARY')),
    shown: { framing: DEFAULT_FRAMING, afterSequence: 0 },
    text: 'THE SUMMARY',
  };
}

/** What stands where, in one word per message. */
function outlineOf(view: View): string[] {
  return view.messages.map((message) => {
    if (message.role === 'tool_results') return `results ${message.results.map((result) => result.id).join(' ')}`;
    const first = message.content.find((part) => part.type === 'text');
    const said = first?.text.split('\n')[0] ?? '';
    return `${message.role === 'user' ? message.origin : 'assistant'} ${said}`.trim();
  });
}

describe('projectView', () => {
  test('results stand in call order, whatever order they arrived in', () => {
    const log = new LogBuilder();
    log.user('go');
    log.step(['a', 'b', 'c'], { order: [2, 0, 1] });
    expect(outlineOf(project(log))).toEqual(['user go', 'assistant', 'results call_1_0 call_1_1 call_1_2']);
  });

  test('R10 a call without a result is closed by one that says so', () => {
    const log = new LogBuilder();
    log.user('go');
    log.step(['a', 'b'], { order: [1] });
    const view = project(log);
    expectPaired(view);
    const results = view.messages[2];
    if (results?.role !== 'tool_results') throw new Error('no results');
    expect(results.results[0]).toMatchObject({ id: 'call_1_0', isError: true });
    expect(JSON.stringify(results.results[0])).toContain('unknown');
    expect(results.results[1]).toMatchObject({ id: 'call_1_1', isError: false });
  });

  test('R10 a result without its call is shown as a note, never as a result', () => {
    const log = new LogBuilder();
    log.user('go');
    log.add({ kind: 'tool_result', callNumber: 9, callIndex: 0, toolName: 'read_file', content: text('late') });
    const view = project(log);
    expectPaired(view);
    expect(viewText(view)).toContain('late');
  });

  test('P30 G5 the summary comes first, then plan, older user messages, and the kept tail in order', () => {
    const log = new LogBuilder();
    const first = log.user('first request');
    log.step(['one']);
    log.note('plan', '1. read');
    log.note('continuation', 'go on');
    log.user('dropped request');
    log.answer('dropped answer');
    const kept = log.user('second request');
    log.step(['two']);
    const view = project(log, { summary: summaryAt(kept.sequence, [first.sequence]) });
    expect(outlineOf(view)).toEqual([
      'summary [Summary of the earlier conversation]',
      'note [Current plan]',
      'user first request',
      'user second request',
      'assistant',
      'results call_3_0',
    ]);
    expect(viewText(view)).toContain('THE SUMMARY');
    expect(viewText(view)).not.toContain('dropped');
  });

  test('R27 placed after the user messages, a summary leaves those kept before the beginning of the request', () => {
    const log = new LogBuilder();
    const [first, second, third] = ['first request', 'second request', 'third request'].map((said) => log.user(said));
    log.note('plan', '1. read');
    log.step(['one']);
    const [answer] = log.step(['two']);
    const said = [first, second, third].map((message) => message?.sequence ?? 0);
    const framing = { opening: '[Summary]', closing: '' };
    const shown = { framing, afterSequence: second?.sequence ?? 0 };
    expect(outlineOf(project(log, { summary: { ...summaryAt(answer?.sequence ?? 0, said), shown } }))).toEqual([
      'user first request',
      'user second request',
      'summary [Summary]',
      'note [Current plan]',
      'user third request',
      'assistant',
      'results call_2_0',
    ]);
  });

  test('R12 rules of the agent and the newest rules note stand verbatim in the system text', () => {
    const log = new LogBuilder();
    log.note('rules', 'Old rule text');
    log.user('go');
    log.note('rules', 'Use tabs.\nNever push.');
    const view = project(log);
    expect(view.system).toContain('Never invent a value.');
    expect(view.system).toContain('Use tabs.\nNever push.');
    expect(view.system).not.toContain('Old rule text');
    expect(outlineOf(view)).toEqual(['user go']);
  });

  test('R27 a new plan changes nothing before it; a cleared one is gone', () => {
    const log = new LogBuilder();
    log.user('go');
    const old = log.note('plan', 'first plan');
    const before = project(log);
    log.step(['x']);
    log.note('plan', 'second plan');
    const after = project(log);
    expect(JSON.stringify({ ...after, messages: after.messages.slice(0, before.messages.length) })).toBe(
      JSON.stringify(before),
    );
    const cleared = project(log, { operations: [clearOperation(old)] });
    expect(viewText(cleared)).not.toContain('first plan');
    expect(viewText(cleared)).toContain('second plan');
  });

  test('a continuation note stands where it was written', () => {
    const log = new LogBuilder();
    log.user('go');
    log.step(['x']);
    log.note('continuation', 'go on');
    log.answer('done');
    expect(outlineOf(project(log))).toEqual([
      'user go',
      'assistant',
      'results call_1_0',
      'note go on',
      'assistant done',
    ]);
  });

  test('operations change what is shown, in older user messages too', () => {
    const log = new LogBuilder();
    const giant = log.user(`Do this. ${prose(9_000)} END`);
    const [, result] = log.step([prose(5_000)]);
    const kept = log.user('next');
    const operations = [clipOperation(giant, { head: 100, tail: 50 })];
    const summary = summaryAt(kept.sequence, [giant.sequence]);
    expect(viewText(project(log, { summary, operations }))).toContain(`recall_open ${giant.id}`);
    if (result === undefined) throw new Error('no result');
    const cleared = viewText(project(log, { operations: [clearOperation(result)] }));
    expect(cleared).toContain(`recall_open ${result.id}`);
  });

  test('placeholders do not name tools that the agent lacks', () => {
    const log = new LogBuilder();
    log.user('go');
    const [, result] = log.step([prose(5_000)]);
    if (result === undefined) throw new Error('no result');
    const operations = [clearOperation(result)];
    expect(viewText(project(log, { agent: { ...AGENT, tools: [] }, operations }))).not.toContain('recall_open');
  });

  test('R11 answers are byte-equal, or lose all reasoning once something before them changed', () => {
    const log = new LogBuilder();
    const user = log.user(prose(4_000));
    const thinking = { type: 'thinking', text: 'hm', provider: 'anthropic', signature: 's' } as const;
    const early = log.answer([thinking, ...text('early')]);
    const late = log.answer([thinking, ...text('late')]);
    const untouched = project(log).messages.filter((message) => message.role === 'assistant');
    expect(untouched.map((message) => message.content)).toEqual([early.content, late.content]);
    const operations = [clipOperation(user, { head: 100, tail: 100 })];
    const changed = project(log, { operations, changedThroughSequence: early.sequence });
    const answers = changed.messages.filter((message) => message.role === 'assistant');
    expect(answers.map((message) => message.content)).toEqual([text('early'), late.content]);
  });

  test('an answer with nothing in it leaves no empty message', () => {
    const log = new LogBuilder();
    log.user('go');
    log.answer([]);
    log.steer('still there?');
    expect(outlineOf(project(log))).toEqual(['user go', 'user still there?']);
  });

  test('R33 the summary says that it is one and is never an answer of the assistant', () => {
    const log = new LogBuilder();
    log.user('a');
    const kept = log.user('b');
    const [message] = project(log, { summary: summaryAt(kept.sequence) }).messages;
    expect(message).toMatchObject({ role: 'user', origin: 'summary' });
  });

  test('R33 as the answer to a question it belongs to no turn and to no call, and the question says that it is the summary', () => {
    const log = new LogBuilder();
    log.user('a');
    const kept = log.user('b');
    const view = project(log, { summary: summaryAt(kept.sequence), policy: OPENCODE_POLICY });
    const [question, answer] = view.messages;
    expect(question).toMatchObject({ role: 'user', origin: 'summary', content: text('What did we do so far?') });
    expect(answer).toMatchObject({ role: 'assistant', turnId: '', callNumber: 0, content: text('THE SUMMARY') });
    log.answer('done');
    const shown = project(log, { summary: summaryAt(kept.sequence), policy: OPENCODE_POLICY }).messages;
    expect(shown.map(isSummaryMessage)).toEqual([true, true, false, false]);
  });

  test('NUL and lone surrogates survive, and the JSON of a view is well formed', () => {
    const log = new LogBuilder();
    log.user('a\0b\ud800c');
    const view = project(log);
    expect(view.messages[0]).toMatchObject({ content: text('a\0b\ud800c') });
    expect(Buffer.from(JSON.stringify(view)).toString()).toBe(JSON.stringify(view));
  });
});
