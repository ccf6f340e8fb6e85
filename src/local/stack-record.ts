import { processStart } from './setup/lock.mjs';
import type { Stack } from './stack-file.ts';
import { writeStack } from './stack-file.ts';
import type { ServiceName } from './supervise.ts';

const EMPTY: Stack = { version: 1, postgres: null, temporal: null, simulator: null, server: null, processes: {} };

/** The stack file of a running stack: changed in memory, written after each change, one write at a time. */
export class StackRecord {
  private readonly directory: string;
  private stack: Stack;
  private written: Promise<void> = Promise.resolve();

  constructor(directory: string, previous: Stack | null) {
    this.directory = directory;
    // Addresses are kept until the service is up again: a command that runs meanwhile waits for the right port.
    this.stack = { ...(previous ?? EMPTY), processes: {} };
  }

  current(): Stack {
    return this.stack;
  }

  async update(change: Partial<Stack>): Promise<void> {
    this.stack = { ...this.stack, ...change };
    const snapshot = this.stack;
    const write = this.written.then(async () => writeStack(this.directory, snapshot));
    // A write that fails, on a full disk, must not fail the next one.
    this.written = write.catch(() => undefined);
    await write;
  }

  /** Remembers the process, so that the next start can end it should all of us be killed. */
  async rememberProcess(service: ServiceName, processId: number): Promise<void> {
    const start = processStart(processId);
    if (start === null) return;
    await this.update({ processes: { ...this.stack.processes, [service]: { processId, start } } });
  }
}
