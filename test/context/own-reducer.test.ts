import { expect, test } from 'vitest';
import { z } from 'zod';
import { newestPerTool } from '../../docs/examples/own-reducer.ts';
import { reducersWith } from '../../src/config/reducers.ts';
import { planCompaction } from '../../src/context/plan/plan-compaction.ts';
import { clear, clip, defineReducer, ReducerError } from '../../src/context/plan/reducers/define-reducer.ts';
import type { Change } from '../../src/context/plan/reducers/define-reducer.ts';
import type { Reducer } from '../../src/context/plan/reducers/built-in.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { Conversation, prose } from './builders.ts';

/** Fourteen files that were read, about two thousand tokens each, under a policy with one reducer. */
function reading(reducer: Reducer, options: Readonly<Record<string, unknown>> = {}) {
  const reduce = [{ use: reducer.name, options }];
  const summary = { ...DEFAULT_POLICY.summary, when: 'if_needed' } as const;
  const conversation = new Conversation({ policy: { ...DEFAULT_POLICY, reduce, summary } });
  conversation.log.user('Read all files.');
  const results = Array.from({ length: 14 }, (_, index) => conversation.log.step([prose(8_000, index)])[1]?.id ?? '');
  const failures: unknown[] = [];
  const plan = () =>
    planCompaction({
      ...conversation.planInput(),
      reducers: reducersWith([reducer]),
      onReducerFailed: (name, error) => failures.push([name, error]),
    });
  return { results, failures, plan };
}

const changing = (plan: (ids: readonly string[]) => readonly Change[]): Reducer =>
  defineReducer({
    name: 'own',
    options: z.object({}),
    plan: ({ entries }) => plan(entries.filter(({ toolName }) => toolName === 'read_file').map(({ id }) => id)),
  });

test('the reducer of docs/compaction.md clears all but the newest results, until the target is reached', () => {
  const { results, plan } = reading(newestPerTool, { keep: 2, tools: ['read_file'] });
  const planned = plan();
  if (planned.kind !== 'planned') throw new Error(planned.kind);
  const { form, operations, tokensAfter, acceptedTokens } = planned.plan;
  expect(form).toBe('reduction');
  expect(operations.map(({ entryId }) => entryId)).toEqual(results.slice(0, operations.length));
  expect(operations.every(({ kind }) => kind === 'clear')).toBe(true);
  expect(tokensAfter).toBeLessThanOrEqual(acceptedTokens);
});

test('a clip keeps head and tail; what no request has carried is not offered', () => {
  const { results, plan } = reading(changing((ids) => ids.map((id) => clip(id, { head: 300, tail: 100 }))));
  const planned = plan();
  if (planned.kind !== 'planned') throw new Error(planned.kind);
  expect(planned.plan.operations[0]).toMatchObject({ kind: 'clip', headCharacters: 300, tailCharacters: 100 });
  expect(planned.plan.operations.map(({ entryId }) => entryId)).not.toContain(results.at(-1));
});

test('a reducer that changes what it was not given is passed over and told of; a summary is planned', () => {
  const { failures, plan } = reading(changing(() => [clear('no such entry')]));
  expect(plan()).toMatchObject({ kind: 'planned', plan: { form: 'summary' } });
  expect(failures[0]).toEqual(['own', expect.any(ReducerError)]);
});

test('a clip to a share of an entry keeps whole characters, and to more than it has all of them', () => {
  const size = (head: number, tail: number) => {
    const planned = reading(changing((ids) => ids.map((id) => clip(id, { head, tail })))).plan();
    return planned.kind === 'planned' ? planned.plan.operations[0] : planned;
  };
  expect(size(300.7, 0.2)).toMatchObject({ headCharacters: 300, tailCharacters: 0 });
  expect(size(300, Infinity)).toBeUndefined();
});

test.each([-1, Number.NaN])('a reducer that clips to %d characters is passed over and told of', (head) => {
  const { failures, plan } = reading(changing((ids) => ids.map((id) => clip(id, { head, tail: 0 }))));
  expect(plan()).toMatchObject({ kind: 'planned', plan: { form: 'summary' } });
  expect(failures[0]).toEqual(['own', expect.any(ReducerError)]);
});

test('two reducers of one name are refused', () => {
  expect(() => reducersWith([changing(() => []), changing(() => [])])).toThrow('Two reducers are called own');
  expect(() => reducersWith([defineReducer({ name: 'clip', options: z.object({}), plan: () => [] })])).toThrow(
    'Two reducers are called clip',
  );
});
