import { expect, test } from 'vitest';
import { workTaskQueueFor } from '../../src/turn/temporal-names.ts';

test('the work queue follows the name of the turn queue', () => {
  expect(workTaskQueueFor('agent-turn')).toBe('agent-work');
  expect(workTaskQueueFor('agent-turn-blue')).toBe('agent-work-blue');
});

test('a queue with another name gets a work queue beside it', () => {
  expect(workTaskQueueFor('mine')).toBe('mine-work');
});
