import { expect, test } from 'vitest';
import { forget, pin, remember, updatePlan } from '../../src/tools/builtin/conversation-tools.ts';
import type { ToolContext } from '../../src/tools/tool.ts';
import { call } from './support/tool-context.ts';

type Memories = NonNullable<ToolContext['memories']>;

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** What the tools pass on, and answer with. */
function memoriesOf(remembered: Partial<Awaited<ReturnType<Memories['remember']>>> = {}) {
  const stated: unknown[] = [];
  const memories: Memories = {
    remember: (statement) => {
      stated.push(statement);
      return Promise.resolve({ id: ID, isNew: true, supersededInstead: [], ...remembered });
    },
    forget: (id) => Promise.resolve(id === ID),
  };
  return { memories, stated };
}

test('a statement is kept as a fact that is sure and never expires, unless something else is said', async () => {
  const { memories, stated } = memoriesOf();
  const { text, isError } = await call(remember, { input: { text: ' Tabs, not spaces. ' }, context: { memories } });
  expect([isError, text]).toEqual([false, `Remembered as ${ID}.`]);
  const said = { kind: 'decision', scope: 'user', supersedes: ['a'], confidence: 0.5 };
  await call(remember, { input: { text: 'Tabs.', ...said, expires_in_days: 3 }, context: { memories } });
  expect(stated).toEqual([
    { text: 'Tabs, not spaces.', kind: 'fact', scope: undefined, supersedes: [], confidence: 1, expiresInDays: null },
    { text: 'Tabs.', ...said, expiresInDays: 3 },
  ]);
});

test('a statement that was known says so, and what it superseded in the place of something older', async () => {
  const { memories } = memoriesOf({ isNew: false, supersededInstead: [{ named: 'a', instead: 'b' }] });
  const { text } = await call(remember, { input: { text: 'Tabs.' }, context: { memories } });
  expect(text).toBe(`Remembered before, as ${ID}. a was superseded before, by b: that is superseded now.`);
});

test('forget says whether a memory of that id was there', async () => {
  const { memories } = memoriesOf();
  expect(await call(forget, { input: { id: ID }, context: { memories } })).toMatchObject({
    isError: false,
    text: 'Forgotten.',
  });
  expect(await call(forget, { input: { id: 'b302099a' }, context: { memories } })).toMatchObject({
    isError: true,
    text: 'There is no memory b302099a here; it may be forgotten already. forget takes a whole id.',
  });
});

test('both say of an agent without memory that it has none', async () => {
  const refused = { isError: true, text: expect.stringContaining('memory is not enabled for it') };
  expect(await call(remember, { input: { text: 'Tabs.' } })).toMatchObject(refused);
  expect(await call(forget, { input: { id: ID } })).toMatchObject(refused);
});

test('a pinned rule is one line, and never an empty one', async () => {
  expect(await call(pin, { input: { rule: ' Answer\n in Dutch. ' } })).toMatchObject({
    isError: false,
    text: 'Pinned: Answer in Dutch.',
  });
  expect(await call(pin, { input: { rule: ' \n ' } })).toMatchObject({ isError: true });
});

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
