import { expect, test } from 'vitest';
import { applyDecision } from '../../../../src/cli/render/turn/decision-state.ts';
import { startState } from '../../../../src/cli/render/turn/turn-state.ts';
import type { TurnScreenState } from '../../../../src/cli/render/turn/turn-state.ts';
import { BEGIN, timelineEvent } from '../timeline.ts';

const CALL = { turn: 2, callNumber: 3, callIndex: 0, name: 'deploy' };

function withArguments(text: string): TurnScreenState {
  const part = { type: 'tool_call', index: 0, id: 'call-0', name: CALL.name, arguments: text } as const;
  return { ...startState(BEGIN, '4f1c22ab'), calls: new Map([['3:0', part]]) };
}

function wordsFor(kind: 'approval' | 'question', argumentsText: string): string {
  const { items } = applyDecision(withArguments(argumentsText), timelineEvent('decision_requested', { ...CALL, kind }));
  return items.map((item) => (item.kind === 'notice' ? item.text : item.kind)).join();
}

test('a call that waits is shown by its name, with all that it would do and how to decide', () => {
  const text = JSON.stringify({ version: '4.0', notes: 'item by item, '.repeat(100) });
  expect(wordsFor('approval', text)).toBe(
    `deploy waits for your approval (call 2.3.0): ${text} (decide with \`npx holdfast approve 4f1c22ab 2.3.0\`, or \`deny\`)`,
  );
});

test('a question is shown in its own words, also where its arguments are cut off behind it', () => {
  const asked =
    'The agent asks (call 2.3.0): Red or "blue"? (answer it with `npx holdfast answer 4f1c22ab "…" --call 2.3.0`)';
  expect(wordsFor('question', '{"question": "Red or \\"blue\\"?"}')).toBe(asked);
  expect(wordsFor('question', '{"question": "Red or \\"blue\\"?", "opt')).toBe(asked);
  expect(wordsFor('question', '{"query": "Red?"}')).toContain('Red?');
});

test('the turn waits for each call until it was decided on, by a person or by what stands', () => {
  const requested = timelineEvent('decision_requested', { ...CALL, kind: 'approval' });
  const other = timelineEvent('decision_requested', { ...CALL, callIndex: 1, kind: 'approval' });
  const asking = applyDecision(applyDecision(withArguments('{}'), requested).state, other).state;
  expect(asking.activity).toEqual({ kind: 'asking', calls: ['2.3.0', '2.3.1'] });
  const denied = timelineEvent('decision_made', { ...CALL, decision: 'denied', scope: 'standing' });
  const { state, items } = applyDecision(asking, denied);
  expect(items).toMatchObject([{ text: 'deploy (call 2.3.0): denied by what stands for the agent.' }]);
  expect([state.activity, state.tools]).toEqual([{ kind: 'asking', calls: ['2.3.1'] }, []]);
  const approved = timelineEvent('decision_made', { ...CALL, callIndex: 1, decision: 'approved', scope: 'call' });
  const end = applyDecision(state, approved);
  expect(end.items).toMatchObject([{ text: 'deploy (call 2.3.1): approved.' }]);
  expect(end.state.activity).toEqual({ kind: 'preparing' });
  expect(end.state.tools).toMatchObject([{ reference: { callNumber: 3, callIndex: 1 } }]);
});
