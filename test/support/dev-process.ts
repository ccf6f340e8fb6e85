import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { signalProcess } from '../../src/local/process-signals.ts';
import { processesOfRun } from './leaked-processes.ts';
import { temporaryDirectory } from './servers.ts';
import { waitUntil } from './wait-until.ts';

export const PROGRAM = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

const POLLING_WORKER = fileURLToPath(new URL('./polling-worker.mjs', import.meta.url));
/** Flags for a stack of servers and a worker that only polls: for what is about processes, not about turns. */
export const WITHOUT_TURNS = ['--no-simulator', '--no-server', '--worker-command', POLLING_WORKER];

const line = z.looseObject({
  event: z.string().optional(),
  processes: z.record(z.string(), z.number()).optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});
type Line = z.infer<typeof line>;

/** A project folder for `holdfast dev`. */
export async function makeProject(): Promise<string> {
  return temporaryDirectory('dev');
}

/** Ends what a test left running. */
export async function endProcesses(project: string): Promise<void> {
  for (const { processId } of await processesOfRun(project)) signalProcess(processId, 'SIGKILL');
}

/** Ends what a test left running, and removes the folder. */
export async function removeProject(project: string): Promise<void> {
  await endProcesses(project);
  // A server that was killed may have made a file while its folder was being emptied.
  await rm(project, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** The environment of a command in the project; TMPDIR marks every process that descends from it. */
export function projectEnvironment(project: string): NodeJS.ProcessEnv {
  const { PATH, HOME, HOLDFAST_RUN } = process.env;
  return { PATH, HOME, HOLDFAST_RUN, TMPDIR: project };
}

/** `holdfast dev --json` in a project. */
export class DevProcess {
  readonly child: ChildProcess;
  readonly lines: Line[] = [];
  private rest = '';

  /**
   * @param environment default: the project's
   * @param program default: this clone's
   */
  constructor(project: string, flags: readonly string[], environment = projectEnvironment(project), program = PROGRAM) {
    this.child = spawn(process.execPath, [program, 'dev', '--json', ...flags], {
      cwd: project,
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      // A process group of its own, as a terminal makes one for each command.
      detached: true,
    });
    this.child.stdout?.on('data', (chunk: Buffer) => {
      const texts = (this.rest + chunk.toString()).split('\n');
      this.rest = texts.pop() ?? '';
      for (const text of texts) this.lines.push(line.parse(JSON.parse(text)));
    });
  }

  /** Ctrl-C: a terminal sends the signal to the whole foreground group, not only to its leader. */
  pressControlC(): void {
    process.kill(-(this.child.pid ?? 0), 'SIGINT');
  }

  find(event: string): Line | undefined {
    return this.lines.find((candidate) => candidate.event === event);
  }

  async running(): Promise<Record<string, number>> {
    await waitUntil('the stack runs', () => this.find('running') !== undefined || this.child.exitCode !== null);
    const found = this.find('running');
    if (found?.processes === undefined) throw new Error(`dev did not start: ${JSON.stringify(this.lines)}`);
    return found.processes;
  }

  async exitCode(): Promise<number | null> {
    await waitUntil('dev has ended', () => this.child.exitCode !== null || this.child.signalCode !== null);
    return this.child.exitCode;
  }
}
