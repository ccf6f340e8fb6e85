import { Command, InvalidArgumentError, Option } from 'commander';
import { CRASH_POINT_FORMS, isCrashPoint } from '../../src/activities/runtime/crash-points.ts';
import { parseCommand, wholeNumber } from '../command-line.ts';
import { KINDS } from './strikes.ts';
import type { StrikeWeights } from './strikes.ts';

export interface SoakOptions {
  /** Strikes that must hit at least one open activity. */
  readonly kills: number;
  /** Decides what happens, not when exactly: the processes have a clock of their own. */
  readonly seed: number;
  /** Only strikes at this crash point; `null`: all kinds. */
  readonly at: string | null;
  /** How often each kind of strike is tried. */
  readonly kinds: StrikeWeights;
  /** Worker processes. */
  readonly workers: number;
  /** Conversations that are open at any time. */
  readonly conversations: number;
  /** Files that each reading task names. */
  readonly files: number;
  /** Lines of each file that hold nothing that is asked for: so that a few files fill a window. */
  readonly lines: number;
  /** Thousand tokens of the model's window. */
  readonly window: number;
  /** Minutes after which no further strike begins. */
  readonly minutes: number;
  /** Milliseconds that a strike waits for the one before to be overcome; up to an eighth of it more at random. */
  readonly patience: number;
  /**
   * Milliseconds until the model's first token: short for a model, but long enough for strikes to meet open calls and for twenty
   * conversations to leave the processor some room. At 120 ms these took all of two cores, and a takeover 12.7 s (p95, 259 kills).
   */
  readonly latency: number;
  readonly json: boolean;
  /** Whether the folder with logs and data stays. */
  readonly keep: boolean;
}

export const DEFAULT_OPTIONS: SoakOptions = {
  kills: 500,
  seed: 7,
  at: null,
  kinds: KINDS,
  workers: 3,
  conversations: 20,
  files: 41,
  lines: 40,
  // Holds the task, a summary with all facts, and some files: in 16 most reading tasks give up, and there are few reports to check.
  window: 24,
  minutes: 75,
  patience: 8_000,
  latency: 600,
  json: false,
  keep: false,
};

/** Flags that take a whole number: what it means, the lowest and the highest. */
const NUMBERS = [
  ['kills', 'strikes', 1, 100_000],
  ['seed', 'decides what strikes', 0, 2 ** 31],
  ['workers', 'worker processes', 1, 20],
  ['conversations', 'open at any time', 1, 200],
  ['files', 'files of a reading task', 1, 200],
  ['lines', 'lines of a file', 1, 1_000],
  ['window', "thousand tokens of the model's window", 8, 1_000],
  ['minutes', 'no strike begins later', 1, 1_440],
  ['patience', 'milliseconds that a strike waits for the one before to be overcome', 0, 60_000],
  ['latency', "milliseconds until the model's first token", 0, 60_000],
] as const;

function crashPoint(text: string): string {
  if (isCrashPoint(text)) return text;
  throw new InvalidArgumentError(`There is no such point: use one of ${CRASH_POINT_FORMS}.`);
}

function createCommand(): Command {
  const command = new Command('soak')
    .usage('[options]')
    .description(
      'Kills, freezes and restarts workers, Temporal and Postgres while conversations run, then lets everything come to its end and checks that nothing was lost and nothing happened twice.',
    )
    .addOption(
      new Option('--at <point>', 'only kills at a crash point, such as commitCompaction:write').argParser(crashPoint),
    )
    .option('--json', 'print one JSON object on the last line')
    .option('--keep', 'leave the folder with logs and data');
  for (const [name, meaning, low, high] of NUMBERS) {
    const option = new Option(`--${name} <number>`, meaning).argParser(wholeNumber(low, high));
    command.addOption(option.default(DEFAULT_OPTIONS[name]));
  }
  return command;
}

/**
 * @returns `null` when only the help was asked for, which is then printed
 * @throws UsageError naming the wrong flag
 */
export function parseOptions(args: readonly string[]): SoakOptions | null {
  const command = createCommand();
  return parseCommand(command, args) ? { ...DEFAULT_OPTIONS, ...command.opts<Partial<SoakOptions>>() } : null;
}
