import { expect, test } from 'vitest';
import { updatePlan } from '../../src/tools/builtin/conversation-tools.ts';
import { call } from './support/tool-context.ts';

test('the plan is one line per item with its state', async () => {
  const items = [
    { text: 'read\nthe files', state: 'done' },
    { text: 'write the report', state: 'in_progress' },
    { text: 'check it', state: 'open' },
  ];
  const outcome = await call(updatePlan, { input: { items } });
  expect(outcome.plan).toBe('- [x] read the files\n- [~] write the report\n- [ ] check it');
  expect(outcome.text).toBe('Plan updated: 1 of 3 done.');
});

test('an empty list removes the plan', async () => {
  expect(await call(updatePlan, { input: { items: [] } })).toMatchObject({ plan: '', text: 'The plan is empty now.' });
});

test('a plan too large to stay in every request is refused', async () => {
  const items = Array.from({ length: 101 }, () => ({ text: 'x', state: 'open' }));
  expect(await call(updatePlan, { input: { items } })).toMatchObject({ ending: 'invalid_arguments' });
  const long = [{ text: 'x'.repeat(501), state: 'open' }];
  expect(await call(updatePlan, { input: { items: long } })).toMatchObject({ ending: 'invalid_arguments' });
});
