import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../../src/store/database/ids.ts';
import { createTestDatabase } from '../support/database.ts';
import { runInProcess } from './run-in-process.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'holdfast-connections-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database.drop();
});

test.each([['list'], ['verify']])('%s reads Postgres alone: Temporal need not be known', async (command) => {
  const result = await runInProcess([command, '--database-url', database.url]);
  expect(result).toMatchObject({ code: 0, stderr: '' });
});

test('what is sent needs a Temporal server, and the message says how to name one', async () => {
  const result = await runInProcess(['start', 'Say hello.', '--detach', '--database-url', database.url]);
  expect(result.code).toBe(3);
  expect(result.stderr).toMatch(
    /^error \(stack_not_started\): No Temporal server is known\.\nnext: .*TEMPORAL_ADDRESS/u,
  );
});

test('a login that Postgres refuses is not called an outage', async () => {
  const url = new URL(database.url);
  url.pathname = '/no_such_database';
  const result = await runInProcess(['list', '--database-url', url.href]);
  expect(result.code).toBe(3);
  expect(result.stderr).toMatch(
    /^error \(database_refused\): Postgres refuses the login \(3D000: database "no_such_database" does not exist\)\nnext: Correct the address \(DATABASE_URL, --database-url\), .*\n$/u,
  );
  expect(result.stderr).not.toContain('holdfast dev');
});

test('a Postgres that does not answer is named by its address, and the flag that named it', async () => {
  const url = 'postgres://holdfast:secret@127.0.0.1:1/holdfast';
  const flag = await runInProcess(['list', `--database-url=${url}`]);
  expect([flag.code, flag.stderr]).toEqual([
    3,
    'error (database_unreachable): Postgres at 127.0.0.1:1 does not answer (ECONNREFUSED)\nnext: Start everything with `npx holdfast dev`, or correct the address (DATABASE_URL, --database-url).\n',
  ]);
  const variable = await runInProcess(['list'], { environment: { DATABASE_URL: url } });
  expect(variable.stderr).toMatch(/\(ECONNREFUSED\)\nnext: Start everything .*\n$/u);
});

test('what to do is said once', async () => {
  const unknown = await runInProcess(['send', newId(), 'Go on.', ...SERVERS()]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^error \(conversation_not_found\): there is no conversation "\S+"\nnext: `npx holdfast list` .*\n$/u,
    ),
  ]);
});

test.each([
  ['--database-url', 'https://holdfast:topsecret@nowhere/holdfast', 'postgres://'],
  ['--temporal-address', 'nowhere', 'host:port'],
])('a wrong %s is named as the flag, without its value', async (flag, value, words) => {
  const result = await runInProcess(['list', flag, value]);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(`The value of ${flag} is not what it takes.`);
  expect(result.stderr).toContain(words);
  expect(result.stderr).not.toContain(value);
  expect(result.stderr).not.toContain('topsecret');
});

test('an empty query is refused', async () => {
  const result = await runInProcess(['recall', 'last', ' ', '--database-url', database.url]);
  expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('The query is empty.') as string });
});

const SERVERS = (): string[] => ['--database-url', database.url, '--temporal-address', '127.0.0.1:1'];

test('a tool or a workspace that a worker does not have is told when it starts, with its place', async () => {
  const file = join(folder, 'holdfast.yaml');
  await writeFile(file, 'agents:\n  default:\n    tools: [read_file, weather]\n');
  const tool = await runInProcess(['worker', ...SERVERS()], { directory: folder });
  expect(tool.code).toBe(2);
  expect(tool.stderr).toMatch(
    /^error \(configuration_invalid\): .*\n {2}holdfast\.yaml:3:24: agents\.default\.tools\[1\] is "weather", which is no tool \(there are: list_files, .*createWorker\)\nnext: /u,
  );
  await writeFile(file, 'agents:\n  default: {}\n  other:\n    workspace: ./gone\n');
  const missing = /holdfast\.yaml:4:5: agents\.other\.workspace is ".*\/gone", which is no folder/u;
  const worker = await runInProcess(['worker', ...SERVERS()], { directory: folder });
  expect([worker.code, worker.stderr]).toEqual([2, expect.stringMatching(missing)]);
  const start = ['start', 'Say hello.', '--detach', ...SERVERS(), '--agent', 'other'];
  const refused = await runInProcess(start, { directory: folder });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(missing)]);
});

test('a worker whose versioning is none of the known ones does not start', async () => {
  const environment = { HOLDFAST_DEPLOYMENT: 'support', HOLDFAST_BUILD_ID: '1', HOLDFAST_VERSIONING: 'sometimes' };
  const { code, stderr } = await runInProcess(['worker', ...SERVERS()], { environment });
  expect(stderr).toContain('versioning (HOLDFAST_VERSIONING) is "sometimes": write pinned or auto-upgrade');
  expect(code).toBe(2);
});

test('commands that need no agent work beside a faulty holdfast.yaml; start refuses', async () => {
  await writeFile(join(folder, 'holdfast.yaml'), 'agents:\n  default:\n    modle: anthropic/x\n');
  const fault = 'holdfast.yaml:3:5: agents.default.modle';
  const run = async (...args: string[]) => runInProcess([...args, ...SERVERS()], { directory: folder });
  const refused = await run('start', 'Say hello.', '--detach');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(fault)]);
  const started = await run('start', 'Say hello.', '--detach', '--no-check', '--json');
  const { conversationId } = z.object({ conversationId: z.string() }).parse(JSON.parse(started.stdout));
  for (const [expected, ...command] of [
    ['Say hello.', 'list'],
    ['Say hello.', 'show', conversationId],
    ['No turn is running', 'stop', conversationId],
    ['decision_not_found', 'approve', conversationId],
    ['decision_not_found', 'deny', conversationId],
    ['conversation_not_found', 'watch', randomUUID()],
    ['Nothing found', 'recall', conversationId, 'nothing of the kind'],
  ]) {
    const { stdout, stderr } = await run(...command);
    expect(`${stdout}${stderr}`, command[0]).toContain(expected);
    // It alone would read more of the file than the servers.
    if (command[0] !== 'recall') continue;
    expect(stderr).toContain(`warning: this command goes on without holdfast.yaml.`);
    expect(stderr).toContain(fault);
  }
});

test('--config names another file than holdfast.yaml, behind the command too', async () => {
  await writeFile(join(folder, 'holdfast.yaml'), '');
  await writeFile(join(folder, 'other.yaml'), 'agents: { reviewer: { modle: x } }\n');
  const { stderr } = await runInProcess(['start', 'Say hello.', '--config', 'other.yaml', ...SERVERS()], {
    directory: folder,
  });
  expect(stderr).toContain('other.yaml:1:23: agents.reviewer.modle');
});

test('env prints the servers so that a shell takes them over, whatever stands in them', async () => {
  const url = `postgres://holdfast:p'a$s"s\\&;@127.0.0.1:7432/holdfast`;
  const environment = { DATABASE_URL: url, TEMPORAL_ADDRESS: 'temporal:7233', HOLDFAST_SIMULATOR_URL: 'http://x:1' };
  const { code, stdout } = await runInProcess(['env'], { environment });
  expect(code).toBe(0);
  const shell = `${stdout}printf '%s\n' "$DATABASE_URL" "$TEMPORAL_ADDRESS" "$TEMPORAL_NAMESPACE" "$HOLDFAST_SIMULATOR_URL"`;
  const taken = execFileSync('sh', ['-c', shell], { encoding: 'utf8', env: {} });
  expect(taken.trimEnd().split('\n')).toEqual([url, 'temporal:7233', 'default', 'http://x:1']);
  const json = await runInProcess(['env', '--json'], { environment });
  expect(JSON.parse(json.stdout)).toEqual({ ...environment, TEMPORAL_NAMESPACE: 'default' });
});

test('env says nothing to the shell when no server is known', async () => {
  const { code, stdout, stderr } = await runInProcess(['env']);
  expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining('stack_not_started')]);
});
