import postgres from 'postgres';
import { describe, expect, inject, test } from 'vitest';
import { Connection } from '@temporalio/client';
import { createTestDatabase } from '../support/database.ts';

describe('servers for tests', () => {
  test('a test database is cloned, used and dropped', async () => {
    const database = await createTestDatabase();
    const sql = postgres(database.url, { max: 1 });
    const [row] = await sql<{ upper: string }[]>`select upper('äñ') as upper`;
    expect(row?.upper).toBe('ÄÑ');
    await sql.end();
    await database.drop();
  });

  test('dropping a database fails when a connection was leaked', async () => {
    const database = await createTestDatabase();
    const sql = postgres(database.url, { max: 1 });
    await sql`select 1`;
    await expect(database.drop()).rejects.toThrow('1 leaked connection');
    await sql.end();
  });

  test('the Temporal server knows the search attributes', async () => {
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    expect(Object.keys(customAttributes ?? {})).toEqual(
      expect.arrayContaining(['HoldfastConversation', 'HoldfastAgent', 'HoldfastModel', 'HoldfastTurnState']),
    );
    await connection.close();
  });
});
