import { expect, test } from 'vitest';
import { commands } from '../../../../src/cli/work/resume.ts';
import { nextCommand } from '../../../../src/cli/render/turn/outcome-words.ts';
import { explainOutcome } from '../../../../src/turn/explain-outcome.ts';
import { COUNTED, limitCode } from '../../../../src/turn/spending.ts';

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

const STOPPED_COMMAND = [
  ['branch_changed', 'The branch was changed before the stop.'],
  ['compacted', 'The compaction was made before the stop.'],
  ['nothing_to_compact', 'Nothing was compacted:'],
  ['conversation_busy', 'The branch was not changed: a turn had begun meanwhile.'],
  ['branch_unknown', 'The branch was not changed: there is no such branch.'],
  [null, 'The command was stopped before it was carried out.'],
] as const;

test.each(STOPPED_COMMAND)(
  'a stopped command (%s) says what became of it, and that only one which was not carried out is sent again',
  (reason, expected) => {
    const words = explainOutcome('stopped', reason, { vendorMessage: null, commandOnly: true, tookMessages: false });
    expect(words).toContain(expected);
    const isToBeSentAgain = reason === null || reason === 'conversation_busy';
    expect(/send (?:it|the command) again/iu.test(words)).toBe(isToBeSentAgain);
  },
);

test.each(STOPPED_COMMAND)(
  'after a stopped command (%s) a resume is advised where a message stands unanswered in it, and else there is nothing to go on with',
  (reason) => {
    for (const tookMessages of [false, true]) {
      const turn = { commandOnly: true, tookMessages };
      const isRefused = reason === 'conversation_busy' || reason === 'branch_unknown';
      const words = explainOutcome('stopped', reason, { ...turn, vendorMessage: null });
      expect(words.includes('resume')).toBe(tookMessages && !isRefused);
      expect(nextCommand('stopped', reason, '1234abcd', turn)).toBe(
        tookMessages ? 'npx holdfast resume 1234abcd' : 'npx holdfast send 1234abcd "…"',
      );
    }
  },
);

test.each(COUNTED)('%s of a conversation is raised by a flag that resume has, and its end names it', (counted) => {
  const reason = limitCode({ scope: 'conversation', counted });
  const [flag = '', amount] = nextCommand('budget_exhausted', reason, '1234abcd')?.split(' ').slice(-2) ?? [];
  expect(commands.resume('resume').options.map(({ long }) => long)).toContain(flag);
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
