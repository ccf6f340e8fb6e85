/** What `holdfast acp` and `holdfast mcp` do with lines that are no message of their protocol. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, onTestFinished, test } from 'vitest';
import { EXECUTABLE } from '../cli/run-cli.ts';
import { createTestDatabase } from '../support/database.ts';

const CLIENT = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };

test.each([
  ['acp', 'session/new', { protocolVersion: 1 }],
  ['mcp', 'tools/nothing', { protocolVersion: '2025-11-25', ...CLIENT }],
])('holdfast %s answers each with a code, and reads on, also after 33 MB', async (command, early, greeting) => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { PATH, HOME, HOLDFAST_RUN } = process.env;
  const servers = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: inject('temporalAddress') };
  const cwd = await mkdtemp(join(tmpdir(), 'holdfast-lines-'));
  const child = spawn(process.execPath, [EXECUTABLE, command], { cwd, env: { PATH, HOME, HOLDFAST_RUN, ...servers } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => JSON.parse((await lines.next()).value ?? '');
  const send = (id: number, method: string, params = {}): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  };
  child.stdin.write('not JSON\n{"jsonrpc":"2.0","id":1\n[]\n');
  child.stdin.write(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}\n', 'latin1'));
  child.stdin.write(`${'x'.repeat(33 * 1024 * 1024)}\n`);
  // What cannot be decoded is answered at once, what is no message when its turn comes.
  const codes = new Map<unknown, number>();
  for (let count = 0; count < 5; count += 1) {
    const { id, error } = await answer();
    expect(id).toBeNull();
    codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
  }
  expect(Object.fromEntries(codes)).toEqual({ '-32700': 4, '-32600': 1 });
  send(1, early);
  expect(await answer()).toMatchObject({ id: 1, error: { code: command === 'acp' ? -32_600 : -32_601 } });
  send(2, 'initialize', greeting);
  expect(JSON.stringify(await answer())).toContain('"name":"holdfast"');
  // An answer to no question.
  child.stdin.write('{"jsonrpc":"2.0","id":77,"result":{}}\n');
  send(3, 'no/such');
  expect(await answer()).toMatchObject({ id: 3, error: { code: -32_601 } });
  child.stdin.end('{"jsonrpc":"2.0","id":4');
  expect(await answer()).toMatchObject({ id: null, error: { code: -32_700 } });
  expect(await once(child, 'exit')).toEqual([0, null]);
});
