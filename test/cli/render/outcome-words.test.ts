import { expect, test } from 'vitest';
import { questionIn } from '../../../src/cli/render/decision-state.ts';
import { resumeCommand } from '../../../src/cli/resume.ts';
import { nextCommand } from '../../../src/cli/render/outcome-words.ts';
import { explainOutcome } from '../../../src/client/explain-outcome.ts';
import { COUNTED, limitCode } from '../../../src/turn/spending.ts';

test.each([
  ['completed', null, null],
  ['stopped', null, 'npx holdfast resume 1234abcd'],
  ['budget_exhausted', 'step_limit', 'npx holdfast resume 1234abcd --steps +100'],
  ['budget_exhausted', 'conversation_cost_limit', 'npx holdfast resume 1234abcd --cost +2'],
  ['budget_exhausted', 'idle_time_limit', 'npx holdfast resume 1234abcd'],
  ['budget_exhausted', 'conversation_idle_time_limit', 'npx holdfast resume 1234abcd'],
  ['budget_exhausted', 'calls_repeated', 'npx holdfast send 1234abcd "…"'],
  ['refused', null, 'npx holdfast send 1234abcd "…"'],
])('after %s (%s) the next command is one that works as it stands', (outcome, reason, command) => {
  expect(nextCommand(outcome, reason, '1234abcd')).toBe(command);
});

test('after a stopped command no resume is advised: there is no task of it to go on with', () => {
  const words = explainOutcome('stopped', null, { vendorMessage: null, commandOnly: true });
  expect(words).not.toContain('resume');
  expect(nextCommand('stopped', null, '1234abcd', true)).toBe('npx holdfast send 1234abcd "…"');
});

test.each(COUNTED)('%s of a conversation is raised by a flag that resume has, and its end names it', (counted) => {
  const reason = limitCode({ scope: 'conversation', counted });
  const [flag = '', amount] = nextCommand('budget_exhausted', reason, '1234abcd')?.split(' ').slice(-2) ?? [];
  expect(resumeCommand().options.map(({ long }) => long)).toContain(flag);
  const words = explainOutcome('budget_exhausted', reason);
  expect(words).toContain(`'${flag} ${amount}'`);
  expect(words).not.toMatch(/\bsend a message/iu);
});

test.each(COUNTED)(
  'after a limit of %s of its own a turn goes on with a raise, or a message begins another',
  (counted) => {
    const words = explainOutcome('budget_exhausted', limitCode({ scope: 'turn', counted }));
    expect(words).toMatch(/'--[a-z-]+ \+\d+', or send a message/u);
  },
);

test('after a rest a conversation goes on without a raise, and a message alone does not help', () => {
  const words = explainOutcome('budget_exhausted', 'conversation_idle_time_limit');
  expect(words).toContain("Go on with 'holdfast resume'");
  expect(words).not.toMatch(/\bsend a message/iu);
});

test('after its own idle time a turn goes on without a raise', () => {
  expect(explainOutcome('budget_exhausted', 'idle_time_limit')).toContain(
    "Go on with 'holdfast resume', or send a message.",
  );
});

test('a question is shown as it is asked, and whole arguments when they are none', () => {
  expect(questionIn('{"question":"Which \\"colour\\"?"}')).toBe('Which "colour"?');
  expect(questionIn('{"other":1}')).toContain('other');
});
