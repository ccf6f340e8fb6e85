import { join, relative } from 'node:path';
import { LOCAL_HOST } from '../../local/ports.ts';
import { LOCAL_SUPERUSER, PASSWORD_FILE } from '../../local/postgres/postgres-login.ts';
import { describeExit } from '../../local/process-signals.ts';
import type { Stack } from '../../local/stack-file.ts';
import type { LocalStack } from '../../local/stack.ts';
import type { ServiceEvent, ServiceName } from '../../local/supervise.ts';
import { printJson } from '../output.ts';
import { printable } from '../render/text/safe-text.ts';
import { wrapWords } from '../render/text/text-width.ts';
import { shellWord } from '../shell-word.ts';

const LABELS: Readonly<Record<ServiceName, string>> = {
  postgres: 'Postgres',
  temporal: 'Temporal',
  simulator: 'Simulator',
  worker: 'Worker',
  server: 'Server',
};

export interface ReadyFacts {
  /** Name of the variable that holds a model key, or null. */
  readonly modelKey: string | null;
  readonly worker: boolean;
  /** `holdfast.yaml` that is in force; read when the worker starts. `null` without one. */
  readonly file: string | null;
  /** State folder that other commands do not find by themselves, or null. */
  readonly directory: string | null;
  /** A link that logs a browser in to the pages once, or null without a server. */
  readonly pages: string | null;
}

function seconds(milliseconds: number): string {
  return `${Number((milliseconds / 1000).toFixed(1))} s`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One line for what happened to a service; null for what a person need not read. */
export function describeEvent(event: ServiceEvent): string | null {
  const name = LABELS[event.service];
  switch (event.kind) {
    case 'starting':
      return `Starting ${name}`;
    case 'ended': {
      const log = relative(process.cwd(), event.logFile);
      return `${name} ${describeExit(event.status)}; its log is ${log}; starting it again in ${seconds(event.restartMilliseconds)}`;
    }
    case 'restart_failed':
      return `${name} could not be started: ${messageOf(event.error)} Trying again in ${seconds(event.restartMilliseconds)}`;
    case 'ready':
      return null;
    case 'stopping':
      return `Stopping ${name}`;
  }
}

type LocalPostgres = NonNullable<Stack['postgres']>;

/** Reads the password where it lies: what is printed may be kept by a terminal or a log. */
function psqlCommand({ dataDirectory, port, database }: LocalPostgres): string {
  const file = relative(process.cwd(), join(dataDirectory, PASSWORD_FILE));
  return `PGPASSWORD="$(cat ${shellWord(file)})" psql -h ${LOCAL_HOST} -p ${port} -U ${LOCAL_SUPERUSER} ${database}`;
}

const SCRIPTED = [
  'A simulator answers, by script: `Say <text>` answers with it, `Call <tool> with <JSON>` calls a tool, a line each.',
  'For a real model set ANTHROPIC_API_KEY or OPENAI_API_KEY and start again.',
  '',
];

/** The addresses and what to do next, for a person. */
export function describeStack(stack: LocalStack, facts: ReadyFacts): string {
  const { postgres, temporal, simulator, server } = stack.current();
  const { directory } = facts;
  const { temporalAddress, temporalNamespace, simulatorUrl } = stack.connections;
  const rows: [string, string][] = [
    ['Temporal UI', temporal?.uiUrl ?? 'not ours: TEMPORAL_ADDRESS names the server'],
    ['Temporal', `${temporalAddress} (namespace ${temporalNamespace})`],
    [
      'Postgres',
      postgres === null
        ? 'not ours: DATABASE_URL names the server'
        : `127.0.0.1:${postgres.port}, database and user holdfast`,
    ],
  ];
  if (server !== null) {
    rows.unshift(
      ['Pages', facts.pages ?? server.url],
      ['API', `${server.url}/v1, described at ${server.url}/reference`],
    );
  }
  if (postgres !== null) rows.push(['psql', psqlCommand(postgres)]);
  if (simulator !== null)
    rows.push([
      'Simulator',
      `${simulator.url} (${facts.modelKey === null ? 'no model key is set, so it answers' : 'asked for'})`,
    ]);
  else if (simulatorUrl !== null) rows.push(['Simulator', `${simulatorUrl} (HOLDFAST_SIMULATOR_URL)`]);
  if (facts.modelKey !== null) rows.push(['Models', `real, key from ${facts.modelKey}`]);
  rows.push(['Configuration', facts.file ?? 'no holdfast.yaml here or above: defaults']);
  rows.push(['Logs', `${relative(process.cwd(), stack.logDirectory) || '.'}/`]);
  const lines = rows.map(([label, value]) => `  ${label.padEnd(13)} ${value}`);
  const next = facts.worker ? 'npx holdfast chat' : 'npx holdfast worker';
  return [
    '',
    'Holdfast is running. Ctrl-C stops it; what it knows stays.',
    '',
    ...lines,
    '',
    ...(simulator !== null && facts.modelKey === null ? SCRIPTED : []),
    `Try, in another terminal:  ${directory === null ? '' : `HOLDFAST_DIRECTORY=${shellWord(directory)} `}${next}`,
    '',
  ].join('\n');
}

/** What `holdfast dev` prints: lines for a person on stdout, or one JSON object per line. */
export class DevOutput {
  private readonly json: boolean;
  /** When each service began to start, by the monotonic clock in milliseconds. */
  private readonly begun = new Map<ServiceName, number>();
  private isRunning = false;

  constructor(json: boolean) {
    this.json = json;
  }

  private line(text: string, object: Readonly<Record<string, unknown>>): void {
    if (this.json) printJson(object);
    else this.write(wrapWords(text, process.stdout.columns || null).join('\n'));
  }

  private write(text: string): void {
    process.stdout.write(`${printable(text)}\n`);
  }

  event(event: ServiceEvent): void {
    const object = event.kind === 'restart_failed' ? { ...event, error: messageOf(event.error) } : event;
    if (event.kind === 'starting') this.begun.set(event.service, performance.now());
    const text = event.kind === 'ready' ? this.readyLine(event.service) : describeEvent(event);
    if (this.json) this.line('', { event: object.kind, ...object, kind: undefined });
    else if (text !== null) this.line(text, {});
  }

  private readyLine(service: ServiceName): string {
    if (this.isRunning) return `${LABELS[service]} is running again`;
    return `${LABELS[service]} is ready (${seconds(performance.now() - (this.begun.get(service) ?? performance.now()))})`;
  }

  /** What takes long, such as a download. */
  progress(text: string): void {
    this.line(text, { event: 'progress', text });
  }

  ready(stack: LocalStack, facts: ReadyFacts): void {
    this.isRunning = true;
    const { postgres, temporal, simulator, server } = stack.current();
    // Not wrapped: it has commands to be copied.
    if (!this.json) return this.write(describeStack(stack, facts));
    printJson({
      event: 'running',
      postgres,
      temporal,
      simulator,
      server: server === null ? null : { ...server, pages: facts.pages },
      processes: stack.processIds(),
    });
  }

  /** @param problem why it is not used; `null`: it is */
  fileChanged(file: string, problem: unknown): void {
    const words = problem === null ? null : messageOf(problem);
    const what = words === null ? '. The services that read it start again.' : `, and is not used yet. ${words}`;
    this.line(`${file} was changed${what}`, { event: 'file_changed', file, problem: words });
  }

  otherWorkers(words: string | null): void {
    if (words !== null) this.line(words, { event: 'other_workers', text: words });
  }

  stopping(): void {
    if (!this.json) this.line('\nStopping; open turns go on at the next start.', {});
  }

  stopped(): void {
    this.line('Stopped.', { event: 'stopped' });
  }
}
