import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { describeEvent, describeStack, DevOutput } from '../../../src/cli/services/dev-output.ts';
import type { ReadyFacts } from '../../../src/cli/services/dev-output.ts';
import type { Stack } from '../../../src/local/stack-file.ts';
import type { LocalStack } from '../../../src/local/stack.ts';

const WHOLE: Stack = {
  version: 1,
  postgres: { port: 5433, database: 'holdfast', dataDirectory: join(process.cwd(), 'my data') },
  temporal: { address: '127.0.0.1:7233', namespace: 'default', uiUrl: 'http://127.0.0.1:8233' },
  simulator: { url: 'http://127.0.0.1:8765' },
  server: { url: 'http://127.0.0.1:8080' },
  processes: {},
};
const FACTS: ReadyFacts = { modelKey: null, worker: true, file: null, directory: null, pages: null };

function stackOf(changes: Partial<Stack> = {}, simulatorUrl: string | null = null): LocalStack {
  const nothing = () => Promise.resolve();
  return {
    connections: {
      databaseUrl: '',
      databaseListenUrl: null,
      temporalAddress: 't:7233',
      temporalNamespace: 'n',
      simulatorUrl,
    },
    current: () => ({ ...WHOLE, ...changes }),
    logDirectory: join(process.cwd(), 'logs'),
    processIds: () => ({ postgres: 7 }),
    restart: nothing,
    stop: nothing,
  };
}

test('a stack of our own is told with its addresses, a command for psql, and what to try', () => {
  expect(describeStack(stackOf(), FACTS).split('\n')).toEqual([
    '',
    'Holdfast is running. Ctrl-C stops it; what it knows stays.',
    '',
    '  Pages         http://127.0.0.1:8080',
    '  API           http://127.0.0.1:8080/v1, described at http://127.0.0.1:8080/reference',
    '  Temporal UI   http://127.0.0.1:8233',
    '  Temporal      t:7233 (namespace n)',
    '  Postgres      127.0.0.1:5433, database and user holdfast',
    `  psql          PGPASSWORD="$(cat 'my data/holdfast-password')" psql -h 127.0.0.1 -p 5433 -U holdfast holdfast`,
    '  Simulator     http://127.0.0.1:8765 (no model key is set, so it answers)',
    '  Configuration no holdfast.yaml here or above: defaults',
    '  Logs          logs/',
    '',
    'A simulator answers, by script: `Say <text>` answers with it, `Call <tool> with <JSON>` calls a tool, a line each.',
    'For a real model set ANTHROPIC_API_KEY or OPENAI_API_KEY and start again.',
    '',
    'Try, in another terminal:  npx holdfast chat',
    '',
  ]);
});

test('servers of the user, a model key and a state folder elsewhere are told as that', () => {
  const stack = stackOf({ postgres: null, temporal: null, simulator: null, server: null }, 'http://sim');
  const facts = {
    modelKey: 'OPENAI_API_KEY',
    worker: false,
    file: 'holdfast.yaml',
    directory: '/my state',
    pages: null,
  };
  expect(describeStack(stack, facts).split('\n').slice(3, -1)).toEqual([
    '  Temporal UI   not ours: TEMPORAL_ADDRESS names the server',
    '  Temporal      t:7233 (namespace n)',
    '  Postgres      not ours: DATABASE_URL names the server',
    '  Simulator     http://sim (HOLDFAST_SIMULATOR_URL)',
    '  Models        real, key from OPENAI_API_KEY',
    '  Configuration holdfast.yaml',
    '  Logs          logs/',
    '',
    "Try, in another terminal:  HOLDFAST_DIRECTORY='/my state' npx holdfast worker",
  ]);
  const asked = describeStack(stackOf(), { ...FACTS, modelKey: 'OPENAI_API_KEY', pages: 'http://login' });
  expect(asked).toContain('8765 (asked for)');
  expect(asked).toContain('Pages         http://login\n');
  expect(asked).not.toContain('by script');
});

const ENDED = { kind: 'ended', service: 'worker', status: 1, logFile: 'worker.log', restartMilliseconds: 500 } as const;

test.each([
  [{ kind: 'starting', service: 'postgres' }, 'Starting Postgres'],
  [{ kind: 'ready', service: 'temporal', processId: 1 }, null],
  [ENDED, 'Worker ended (exit code 1); its log is worker.log; starting it again in 0.5 s'],
  [
    { kind: 'restart_failed', service: 'server', error: new Error('No port.'), restartMilliseconds: 2_000 },
    'Server could not be started: No port. Trying again in 2 s',
  ],
  [{ kind: 'stopping', service: 'simulator' }, 'Stopping Simulator'],
] as const)('$0.kind of a service is told in words', (event, words) => expect(describeEvent(event)).toBe(words));

/** What is printed to standard output. */
function printed(json: boolean, print: (output: DevOutput) => void): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  print(new DevOutput(json));
  const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
  write.mockRestore();
  return text;
}

test('a service that is ready says how long it took, and after that only that it runs again', () => {
  const text = printed(false, (output) => {
    const ready = { kind: 'ready', service: 'worker', processId: 1 } as const;
    output.event({ kind: 'starting', service: 'worker' });
    output.event(ready);
    output.ready(stackOf(), FACTS);
    output.event(ready);
    output.otherWorkers(null);
    output.fileChanged('holdfast.yaml', null);
    output.fileChanged('holdfast.yaml', new Error('Line 2.'));
    output.stopping();
    output.stopped();
  });
  const lines = text.split('\n').filter((line) => /^[A-Zh]/u.test(line));
  expect(lines[1]).toMatch(/^Worker is ready \(0(?:\.\d)? s\)$/u);
  expect(lines.slice(-5)).toEqual([
    'Worker is running again',
    'holdfast.yaml was changed. The services that read it start again.',
    'holdfast.yaml was changed, and is not used yet. Line 2.',
    'Stopping; open turns go on at the next start.',
    'Stopped.',
  ]);
});

test('with --json each line is one object', () => {
  const text = printed(true, (output) => {
    output.event({ kind: 'restart_failed', service: 'server', error: new Error('No port.'), restartMilliseconds: 5 });
    output.progress('Downloading');
    output.ready(stackOf({ simulator: null }), { ...FACTS, pages: 'http://login' });
    output.fileChanged('holdfast.yaml', new Error('Line 2.'));
    output.otherWorkers('Another worker');
    output.stopping();
    output.stopped();
  });
  const { postgres, temporal, server } = WHOLE;
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { event: 'restart_failed', service: 'server', error: 'No port.', restartMilliseconds: 5 },
    { event: 'progress', text: 'Downloading' },
    {
      event: 'running',
      postgres,
      temporal,
      simulator: null,
      server: { ...server, pages: 'http://login' },
      processes: { postgres: 7 },
    },
    { event: 'file_changed', file: 'holdfast.yaml', problem: 'Line 2.' },
    { event: 'other_workers', text: 'Another worker' },
    { event: 'stopped' },
  ]);
});
