import { describe, expect, test } from 'vitest';
import { formatClock } from '../../../../src/cli/render/text/numbers.ts';
import type { TimelineEvent } from '../../../../src/client/types.ts';
import { applyLiveText, startState } from '../../../../src/cli/render/turn/turn-state.ts';
import type { EventKind } from '../../../../src/store/log/timeline.ts';
import { EXAMPLE_EVENTS } from '../../../support/example-events.ts';
import { BEGIN, TURN_ID, listedEntry, play, text, timelineEvent, toolCall } from '../timeline.ts';

const begun = timelineEvent('turn_begun', {
  agent: 'default',
  model: 'simulator/sim-32k',
  preset: 'default',
  commandOnly: false,
});
const started = timelineEvent('model_call_started', { callNumber: 1, attempt: 1, estimatedTokens: 2_000 }, 1);
const answered = timelineEvent('model_call_answered', { inputTokens: 2_100 }, 3);
const answer = listedEntry({
  content: [
    text('I read the files.'),
    toolCall(0, 'read_file', '{"path":"a.md"}'),
    toolCall(1, 'read_file', '{"path":"b.md"}'),
  ],
});
const finish = (callIndex: number, outcome: 'succeeded' | 'failed', seconds: number) =>
  timelineEvent('tool_call_finished', { callNumber: 1, callIndex, name: 'read_file', outcome, attempt: 1 }, seconds);

const notice = (words: string) => ({ kind: 'notice', level: 'information', text: words });

describe('a turn on the screen', () => {
  test('an answer with tool calls: its text, then a line per call with arguments, size and duration', () => {
    const result = listedEntry({ kind: 'tool_result', callIndex: 1, content: [text('x'.repeat(2_048))] });
    const failure = listedEntry({
      kind: 'tool_result',
      callIndex: 0,
      isError: true,
      content: [text('a.md: no such file')],
    });
    const { state, items } = play([
      begun,
      started,
      [answered, answer],
      [finish(1, 'succeeded', 5.5), result],
      [finish(0, 'failed', 6), failure],
    ]);
    expect(items).toEqual([
      { kind: 'turn_begun', agent: 'default', model: 'simulator/sim-32k', preset: 'default' },
      { kind: 'answer', text: 'I read the files.' },
      {
        kind: 'tool',
        name: 'read_file',
        arguments: '{"path":"b.md"}',
        outcome: 'succeeded',
        bytes: 2_048,
        failure: null,
        durationMilliseconds: 2_500,
      },
      {
        kind: 'tool',
        name: 'read_file',
        arguments: '{"path":"a.md"}',
        outcome: 'failed',
        bytes: 18,
        failure: 'a.md: no such file',
        durationMilliseconds: 3_000,
      },
    ]);
    expect(state).toMatchObject({ steps: 1, tokens: 2_100, tools: [], turnId: TURN_ID });
  });

  test('the size of a clipped result is that of its original', () => {
    const result = listedEntry({
      kind: 'tool_result',
      callIndex: 0,
      content: [text('head … tail')],
      originalBytes: 900_000,
    });
    const { items } = play([begun, [finish(0, 'succeeded', 5), result]]);
    expect(items.at(-1)).toMatchObject({ bytes: 900_000 });
  });

  test('calls run from the answer on, but for one that waits for a person: that runs once it is approved', () => {
    const call = { callNumber: 1, callIndex: 0, name: 'read_file' };
    const asked = timelineEvent('decision_requested', { ...call, kind: 'approval' }, 4);
    const made = timelineEvent('decision_made', { ...call, decision: 'approved', scope: 'call' }, 9);
    const running = ({ state }: ReturnType<typeof play>) =>
      state.tools.map(({ reference, since }) => [reference.callIndex, since - BEGIN]);
    const answeredCalls = [begun, started, [answered, answer]] as const;
    expect(running(play([...answeredCalls]))).toEqual([
      [0, 3_000],
      [1, 3_000],
    ]);
    expect(running(play([...answeredCalls, asked]))).toEqual([[1, 3_000]]);
    expect(running(play([...answeredCalls, asked, made]))).toEqual([
      [1, 3_000],
      [0, 9_000],
    ]);
  });

  test('a call that is claimed again says that a worker was lost, and runs once', () => {
    const data = { callNumber: 1, callIndex: 0, name: 'read_file', attempt: 2, workerIdentity: 'w' };
    const { state, items } = play([begun, started, [answered, answer], timelineEvent('tool_call_reclaimed', data, 9)]);
    expect(state.tools.map(({ reference }) => reference.callIndex)).toEqual([1, 0]);
    expect(items.at(-1)).toMatchObject({
      kind: 'notice',
      level: 'warning',
      text: expect.stringContaining('attempt 2'),
    });
  });

  test('a model call that another worker makes again says that a worker was lost; one after a failure does not', () => {
    const again = timelineEvent('model_call_started', { callNumber: 1, attempt: 2, estimatedTokens: 2_000 }, 9);
    const reclaimed = timelineEvent('model_call_reclaimed', { callNumber: 1, attempt: 2 }, 9);
    expect(play([begun, started, reclaimed, again]).items.at(-1)).toMatchObject({
      text: expect.stringContaining('worker was lost'),
    });
    const failed = timelineEvent('model_call_failed', { callNumber: 1, attempt: 1, kind: 'retryable', status: 529 }, 2);
    const { items, state } = play([begun, started, failed, again]);
    expect(items).toHaveLength(2);
    expect(items.at(-1)).toMatchObject({ text: expect.stringContaining('HTTP 529') });
    expect(state.activity).toEqual({ kind: 'calling', call: { callNumber: 1, attempt: 2 } });
  });

  test('an overflow that the provider reports is told in words', () => {
    const failed = timelineEvent('model_call_failed', { callNumber: 1, attempt: 1, kind: 'overflow', status: 400 }, 2);
    expect(play([begun, started, failed]).items.at(-1)).toMatchObject({ text: expect.stringContaining('overflow') });
  });

  test('a stop is not told as a failure of the model', () => {
    const failed = timelineEvent('model_call_failed', { callNumber: 1, attempt: 1, kind: 'aborted', status: null }, 2);
    expect(play([begun, started, failed]).items).toHaveLength(1);
  });

  test('live text that comes before the event of its call stays', () => {
    const piece = { turnId: TURN_ID, callNumber: 1, attempt: 1, kind: 'text', offset: 0, text: 'Hello' } as const;
    const early = applyLiveText({ ...startState(BEGIN), turnId: TURN_ID }, piece);
    const shown = (attempt: number) =>
      play([timelineEvent('model_call_started', { callNumber: 1, attempt })], early).state.live?.text.shown;
    expect([shown(1), shown(2)]).toEqual(['Hello', undefined]);
  });

  test('live text of a call that is answered, of another turn or after the end is dropped', () => {
    const update = { turnId: TURN_ID, callNumber: 1, attempt: 1, kind: 'text', offset: 0, text: 'late' } as const;
    const afterAnswer = play([begun, started, [answered, answer]]).state;
    expect(applyLiveText(afterAnswer, update).live).toBeNull();
    expect(applyLiveText(afterAnswer, { ...update, callNumber: 2 }).live?.text.shown).toBe('late');
    const calling = play([begun, started]).state;
    expect(applyLiveText(calling, update).live?.text.shown).toBe('late');
    expect(applyLiveText(calling, { ...update, turnId: 'other' }).live).toBeNull();
    const ended = play([timelineEvent('turn_ended', { outcome: 'stopped', reason: null })], calling).state;
    expect(applyLiveText(ended, { ...update, callNumber: 9 }).live).toBeNull();
  });

  test('W35 W36 a compaction is a card while it runs and an item with tokens before and after when it is done', () => {
    const compactionStarted = timelineEvent('compaction_started', { parts: 2, operations: 12 }, 10);
    const running = play([begun, compactionStarted, timelineEvent('compaction_part_written', { part: 1 }, 12)]).state;
    expect(running.compaction).toMatchObject({
      written: 1,
      since: BEGIN + 10_000,
      plan: { parts: 2, operations: 12 },
    });
    const committed = timelineEvent('compaction_committed', { operations: 12 }, 14.1);
    const { state, items } = play([committed], running);
    expect(state.compaction).toBeNull();
    expect(state.tokens).toBe(14_880);
    expect(items).toEqual([
      {
        kind: 'compaction_done',
        done: expect.objectContaining({ tokensBefore: 31_204, tokensAfter: 14_880, operations: 12 }),
      },
    ]);
  });

  test.each([
    ['compaction_part_failed', { part: 1 }, 'stays', 'warning'],
    ['compaction_form_failed', { failure: 'not_smaller' }, 'stays', 'warning'],
    ['compaction_cancelled', {}, 'stays', 'warning'],
    ['compaction_hook_skipped', { code: 'TypeError' }, 'stays', 'warning'],
    ['compaction_declined', { reason: 'irreducible' }, 'stays', 'information'],
    ['compaction_abandoned', {}, 'goes', 'warning'],
    ['compaction_exhausted', { tokens: 31_204 }, 'goes', 'warning'],
  ] as const)('W35 %s is told; with %j the card of a running compaction %s', (kind, data, card, level) => {
    const running = play([begun, timelineEvent('compaction_started', { form: 'summary' })]).state;
    const { state, items } = play([timelineEvent(kind, data)], running);
    expect(state.compaction).toEqual(card === 'stays' ? running.compaction : null);
    expect(items).toEqual([{ kind: 'notice', level, text: expect.stringMatching(/^[A-Z].*\.$/u) }]);
  });

  test('a kind that a newer worker writes is shown by its name and figures', () => {
    const data = { phase: 'full', nested: { a: 1 }, lit: 100 };
    const newer: TimelineEvent = Object.assign(timelineEvent('turn_continued'), { kind: 'moon_phase', data });
    const { items } = play([begun, newer]);
    expect(items.at(-1)).toEqual({ kind: 'notice', level: 'information', text: 'moon_phase: phase full, lit 100' });
  });

  test('a wait for the provider is told in words when it begins and when it is over', () => {
    const told = { reason: 'rate_limit', delayMilliseconds: 12_000, provider: 'simulator' } as const;
    const { state, items } = play([begun, timelineEvent('turn_waiting', told), timelineEvent('turn_wait_over')]);
    const until = formatClock(BEGIN + 12_000, BEGIN);
    expect(items.slice(1)).toEqual([
      notice(`The turn waits 12 s for simulator: rate limit, until ${until}.`),
      notice('The wait for the provider is over; the turn goes on.'),
    ]);
    expect(state.activity).toEqual({ kind: 'preparing' });
  });

  test('a call that asks again and again is one wait until the latest time, told once', () => {
    const wait = (seconds: number) => {
      const data = { reason: 'call_limit', delayMilliseconds: 5_000, provider: 'simulator' } as const;
      return timelineEvent('turn_waiting', data, seconds);
    };
    const { state, items } = play([begun, wait(0), wait(10), wait(17)]);
    expect(items.slice(1)).toHaveLength(1);
    expect(state.activity).toMatchObject({ kind: 'limited', until: BEGIN + 22_000 });
    expect(play([started], state).state.activity.kind).toBe('calling');
  });

  test('every kind of event can be shown', () => {
    const { turn_ended: _, ...others } = EXAMPLE_EVENTS;
    const { state, items } = play(
      [...Object.keys(others), 'turn_ended'].map((kind) => timelineEvent(kind as EventKind)),
    );
    expect(state.activity.kind).toBe('ended');
    expect(JSON.stringify(items)).not.toMatch(/undefined|NaN/u);
  });
});
