import { z } from 'zod';
import { childEnvironment } from '../process/child-environment.ts';
import { defineTool } from '../define-tool.ts';
import { RUN_COMMAND } from '../runtime/names.ts';
import { runShellCommand, type CommandEnd } from '../process/shell-command.ts';
import type { ToolDefinition } from '../tool.ts';
import { openWorkspace } from '../files/workspace.ts';

const DEFAULT_SECONDS = 120;
const MOST_SECONDS = 3_600;

/** Milliseconds beyond the command's own time limit until the call is given up. */
const TIMEOUT_MARGIN_MILLISECONDS = 10_000;

/** Bytes of output that end a command: it is out of hand. Far above the 64 MB that are kept. */
const OUTPUT_LIMIT_BYTES = 4 * 1_024 ** 3;

export interface RunCommandOptions {
  /** The worker's own environment, from which the command's is made. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of variables that commands get besides `COMMAND_VARIABLES`. Default: none. */
  readonly passedOn?: readonly string[];
  /** Provider keys: no variable that contains one reaches the command. */
  readonly secrets: readonly string[];
}

/**
 * `run_command` is not confined: a command can read and write whatever the worker's user can, the worker's own
 * environment included. So an agent gets it only with `allowCommands`. `once`: nobody but the model can know
 * whether a command that was interrupted may run again.
 */
export function createRunCommand(options: RunCommandOptions): ToolDefinition {
  return defineTool({
    name: RUN_COMMAND,
    description:
      'Runs a command with bash in the workspace and returns its output (both streams in order) and exit code. It has no ' +
      'terminal and no input. When it ends, everything that it started is ended too, so nothing goes on in the background.',
    input: z.strictObject({
      command: z.string().min(1).describe('The command line.'),
      timeout_seconds: z
        .number()
        .min(1)
        .max(MOST_SECONDS)
        .optional()
        .describe(`Time limit in seconds, after which the command is ended. Default: ${DEFAULT_SECONDS}.`),
    }),
    effect: 'once',
    exclusive: true,
    timeout: MOST_SECONDS * 1_000 + TIMEOUT_MARGIN_MILLISECONDS,
    async run({ command, timeout_seconds: seconds = DEFAULT_SECONDS }, context) {
      const { output, signal, idempotencyKey } = context;
      const { root } = await openWorkspace({ ...context, protectedPaths: [] });
      const startedAt = performance.now();
      // What a zombie begins was told as of unknown outcome already, and is killed a moment later: better not begun.
      await context.requireClaim();
      const end = await runShellCommand({
        command,
        directory: root,
        environment: childEnvironment({ ...options, idempotencyKey }),
        idempotencyKey,
        timeoutMilliseconds: seconds * 1_000,
        outputLimitBytes: OUTPUT_LIMIT_BYTES,
        signal,
        onOutput: (bytes) => output.write(bytes),
      });
      if (end.cause === 'aborted') signal.throwIfAborted();
      const ended = describe(end, seconds);
      const elapsed = `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
      return { content: `[${ended}; ${elapsed}]`, comparedBy: ended, isError: end.exitCode !== 0 };
    },
  });
}

function describe(end: CommandEnd, seconds: number): string {
  switch (end.cause) {
    case 'timed_out':
      return `ended after the time limit of ${seconds} s; what it had done until then is not undone`;
    case 'too_much_output':
      return 'ended because it wrote more than 4 GB; what it had done until then is not undone';
    case 'aborted':
    case 'exited':
      return end.endedBy === null ? `exit code ${end.exitCode}` : `ended by ${end.endedBy}`;
  }
}
