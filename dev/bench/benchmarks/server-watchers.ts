import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../src/local/ports.ts';
import { holdfastCommand } from '../../../src/local/services.ts';
import { connectedEnvironment } from '../../../src/local/worker-process.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { exactly } from '../statistics.ts';

const CONVERSATIONS = 20;
const WATCHERS_EACH = 50;
const MEBIBYTE = 1024 * 1024;

/** 1,000 event streams of 20 conversations at work, while the server is killed and they come back. */
export async function measureWatchers(stack: BenchStack): Promise<Figure[]> {
  const { client, signal } = stack;
  const port = await freePort();
  const ids = await Promise.all(
    Array.from({ length: CONVERSATIONS }, async () => (await client.start('Say hello')).conversationId),
  );
  let server = await startServerProcess(stack, port);
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  const watchers = ids.flatMap((id) =>
    Array.from({ length: WATCHERS_EACH }, () =>
      watch(`http://127.0.0.1:${port}/v1/conversations/${id}/events`, leaving.signal),
    ),
  );
  const isComplete = async (): Promise<boolean> => {
    const counts = await Promise.all(
      ids.map(async (id) => (await client.conversation.get({ conversationId: id })).eventCount),
    );
    return watchers.every(({ seen }, place) => seen.length >= (counts[Math.floor(place / WATCHERS_EACH)] ?? 0));
  };
  const sendAll = async (): Promise<void> => {
    const sent = await Promise.all(
      ids.map((id) => client.open(id).send('Say one two three four five six seven', { mode: 'queue' })),
    );
    await Promise.all(sent.map((message) => client.conversation.outcome({ ...message, signal })));
  };
  try {
    await until(isComplete, signal);
    let most = 0;
    const sampling = setInterval(() => void residentBytes(server).then((bytes) => (most = Math.max(most, bytes))), 200);
    await sendAll();
    await until(isComplete, signal);
    clearInterval(sampling);
    server.kill('SIGKILL');
    await once(server, 'exit');
    const going = sendAll();
    server = await startServerProcess(stack, port);
    await going;
    await until(isComplete, signal);
    const wrong = watchers.flatMap(({ seen }) => seen.filter((number, place) => number !== place + 1)).length;
    return figuresOf(most, wrong);
  } finally {
    leaving.abort();
    await Promise.all(watchers.map(({ ended }) => ended));
    server.kill('SIGKILL');
  }
}

function figuresOf(residentBytesAtMost: number, wrong: number): Figure[] {
  const figure = { benchmark: 'server' } as const;
  const memory = 'memory of the server, 1,000 watchers of 20 conversations at work';
  const lost = 'events lost or doubled after the server was killed';
  return [
    { ...figure, name: memory, unit: 'MiB', target: { atMost: 300 }, ...exactly(residentBytesAtMost / MEBIBYTE) },
    { ...figure, name: lost, unit: 'events', target: { atMost: 0 }, ...exactly(wrong) },
  ];
}

/** As a browser does: whenever the stream ends it comes back, after the last event that it has. */
function watch(url: string, signal: AbortSignal): { readonly seen: readonly number[]; readonly ended: Promise<void> } {
  const seen: number[] = [];
  const receive = (block: string): void => {
    const id = /^id: (\d+)$/mu.exec(block)?.[1];
    if (id !== undefined) seen.push(Number(id));
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const headers = { 'last-event-id': String(seen.at(-1) ?? 0) };
      await followEvents(url, { signal, receive, headers }).catch(() => undefined);
      await sleep(200, undefined, { signal }).catch(() => undefined);
    }
  };
  return { seen, ended: run() };
}

/** Reads an event stream until the signal, or until the server ends it. */
async function followEvents(
  url: string,
  {
    signal,
    receive,
    headers,
  }: {
    readonly signal: AbortSignal;
    readonly receive: (block: string) => void;
    readonly headers: Record<string, string>;
  },
): Promise<void> {
  const response = await fetch(url, { signal, headers });
  if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) receive(block);
  }
}

async function until(condition: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!(await condition())) await sleep(250, undefined, { signal });
}

async function startServerProcess({ connections, directory }: BenchStack, port: number): Promise<ChildProcess> {
  const server = spawn(process.execPath, holdfastCommand('server', '--port', String(port), '--json'), {
    cwd: directory,
    env: connectedEnvironment(process.env, connections),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // It says where it listens.
  await once(server.stdout, 'data');
  return server;
}

/** Linux only; 0 elsewhere. */
async function residentBytes({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1] ?? 0) * 1024;
}
