import { expect, test } from 'vitest';
import { workTaskQueueFor } from '../../src/turn/task-queues.ts';

test('the work queue follows the name of the turn queue', () => {
  expect(workTaskQueueFor('agent-turn')).toBe('agent-work');
  expect(workTaskQueueFor('agent-turn-blue')).toBe('agent-work-blue');
});

test('a queue with another name is refused with the prefix it needs', () => {
  expect(() => workTaskQueueFor('mine')).toThrow('task queue "mine" must start with "agent-turn"');
});
