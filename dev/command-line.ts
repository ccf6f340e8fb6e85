import { CommanderError, InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { describeError, errorLines } from '../src/cli/describe-error.ts';
import { EXIT_CODES } from '../src/cli/exit-codes.ts';
import { endOnSignals, untilSignalled } from '../src/cli/interruption.ts';
import { UsageError } from '../src/cli/usage-error.ts';

/** Progress is no result: it goes where a pipe does not read. */
export const remark = (line: string): void => void process.stderr.write(`${line}\n`);

/** For `argParser`. */
export function wholeNumber(low: number, high: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/u.test(text) && value >= low && value <= high) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${low} to ${high}.`);
  };
}

/**
 * Parses what was typed. Flags and arguments are then in the command.
 * @returns whether to go on; `false` when only the help was asked for, which is then printed
 * @throws UsageError naming the wrong flag
 */
export function parseCommand(command: Command, args: readonly string[]): boolean {
  try {
    command
      .helpOption('-h, --help', 'show this help')
      .exitOverride()
      .configureOutput({ outputError: () => undefined })
      .parse([...args], { from: 'user' });
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return false;
    const message = error.message.replace(/^error: /u, '').replace(/(?<![.!?])$/u, '.');
    throw new UsageError('usage', message, `\`npm run ${command.name()} -- --help\` shows the flags.`);
  }
}

/**
 * Runs a program of this folder until it ends or is signalled, and sets the exit code.
 * @param run returns the exit code; `null`: the signal cut it off
 * @param onError told the message of an error before the process ends with it
 */
export async function runProgram(
  run: (signal: AbortSignal) => Promise<number | null>,
  onError: (message: string) => void = () => undefined,
): Promise<void> {
  endOnSignals();
  try {
    const { result } = await untilSignalled(run);
    process.exitCode = result ?? EXIT_CODES.interrupted.code;
  } catch (error) {
    const described = describeError(error);
    process.exitCode = described.exit === 'usage' ? EXIT_CODES.usage.code : 1;
    remark(errorLines(described).join('\n'));
    onError(described.message);
    if (process.env['HOLDFAST_DEBUG'] === '1' && error instanceof Error) remark(error.stack ?? error.message);
  }
}
