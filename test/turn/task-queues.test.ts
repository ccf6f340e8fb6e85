import { expect, test } from 'vitest';
import { databaseTaskQueueFor } from '../../src/turn/temporal-names.ts';

test('the database queue follows the name of the turn queue', () => {
  expect(databaseTaskQueueFor('agent-turn')).toBe('agent-database');
  expect(databaseTaskQueueFor('agent-turn-blue')).toBe('agent-database-blue');
});

test('a queue with another name gets a database queue beside it', () => {
  expect(databaseTaskQueueFor('mine')).toBe('mine-database');
});
