import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { WOLFFISH_POLICY } from '../../src/context/policy/presets/wolffish.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import { Conversation, prose } from './builders.ts';
import { NO_REDUCERS, planOf, withPolicy } from './planning.ts';

/** Asks, has an answer in long steps, and compacts. */
function workAndCompact(conversation: Conversation, request: string): void {
  conversation.log.user(request);
  for (let step = 0; step < 16; step += 1) conversation.log.step([prose(9_000, step)]);
  conversation.commit(planOf(conversation), 'What was done.');
}

/** What stands before the summary: words of the user as they are, anything else by its role. */
function beforeSummary({ messages }: ReturnType<Conversation['view']>): readonly string[] {
  const summary = messages.findIndex((message) => message.role === 'user' && message.origin === 'summary');
  return messages.slice(0, summary).map((message) => {
    const part = message.role === 'user' ? message.content[0] : undefined;
    return part?.type === 'text' ? part.text : message.role;
  });
}

function placedBy(placement: CompactionPolicy['summary']['placement']): Conversation {
  return new Conversation({
    policy: withPolicy({ reduce: NO_REDUCERS.reduce, summary: { ...DEFAULT_POLICY.summary, placement } }),
  });
}

test.each([
  ['first', [], []],
  ['after_first_message', ['one'], ['one']],
  // Those that stood there when the compaction began, so that the cache of the provider has them.
  ['after_user_messages', [], ['one']],
] as const)('R27 a summary that is placed %s stands behind these messages, pass by pass', (placement, once, twice) => {
  const conversation = placedBy(placement);
  workAndCompact(conversation, 'one');
  expect(beforeSummary(conversation.view())).toEqual(once);
  workAndCompact(conversation, 'two');
  expect(beforeSummary(conversation.view())).toEqual(twice);
});

test('W26 a summary that is placed at the end stands behind all that the view shows, and what comes later behind it', () => {
  const conversation = placedBy('end');
  workAndCompact(conversation, 'one');
  const { messages } = conversation.view();
  const before = beforeSummary(conversation.view());
  expect(before).toHaveLength(messages.length - 2);
  conversation.log.answer('Later.');
  expect(beforeSummary(conversation.view())).toEqual(before);
});

test('a summary after the first message comes first where an answer is the oldest that stays', () => {
  const conversation = placedBy('after_first_message');
  const [answer] = conversation.log.step(['An answer without a request.']);
  const policy = {
    ...conversation.policy,
    keep: { ...DEFAULT_POLICY.keep, activeFiles: { tokens: 5_000 } },
  };
  conversation.log.user('one');
  for (let step = 0; step < 16; step += 1) conversation.log.step([prose(9_000, step)]);
  const plan = planOf(conversation, { policy, activeEntryIds: new Set([answer?.id ?? '']) });
  expect(plan.keptSequences[0]).toBe(answer?.sequence);
  expect(plan.shown?.afterSequence).toBe(0);
});

test('R27 after a summary beside the messages, one after the user messages stands before all that stays from its cut on', () => {
  const conversation = new Conversation({ policy: WOLFFISH_POLICY });
  workAndCompact(conversation, 'one');
  const { firstKeptSequence, shown } = planOf(conversation, { policy: DEFAULT_POLICY, reason: 'manual' });
  expect(shown?.afterSequence).toBeLessThan(firstKeptSequence ?? 0);
});
