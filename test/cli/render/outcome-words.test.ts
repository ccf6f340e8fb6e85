import { expect, test } from 'vitest';
import { questionIn } from '../../../src/cli/render/decision-state.ts';
import { nextCommand } from '../../../src/cli/render/outcome-words.ts';

test.each([
  ['completed', null, null],
  ['stopped', null, 'npx holdfast resume 1234abcd'],
  ['budget_exhausted', 'step_limit', 'npx holdfast resume 1234abcd --steps +100'],
  ['budget_exhausted', 'conversation_cost_limit', 'npx holdfast resume 1234abcd --cost +2'],
  ['budget_exhausted', 'idle_time_limit', 'npx holdfast resume 1234abcd'],
  ['budget_exhausted', 'conversation_idle_time_limit', 'npx holdfast resume 1234abcd --idle-time +86400'],
  ['budget_exhausted', 'calls_repeated', 'npx holdfast send 1234abcd "…"'],
  ['refused', null, 'npx holdfast send 1234abcd "…"'],
])('after %s (%s) the next command is one that works as it stands', (outcome, reason, command) => {
  expect(nextCommand(outcome, reason, '1234abcd')).toBe(command);
});

test('a question is shown as it is asked, and whole arguments when they are none', () => {
  expect(questionIn('{"question":"Which \\"colour\\"?"}')).toBe('Which "colour"?');
  expect(questionIn('{"other":1}')).toContain('other');
});
