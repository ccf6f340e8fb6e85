import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../src/cli/usage-error.ts';
import { whyUnusable } from './points.ts';
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
  /** Milliseconds in which every turn reaches its outcome once nothing strikes any more. */
  readonly settling: number;
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
  settling: 120_000,
  json: false,
  keep: false,
};

function count(low: number, high: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/u.test(text) && value >= low && value <= high) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${low} to ${high}.`);
  };
}

function crashPoint(text: string): string {
  const reason = whyUnusable(text);
  if (reason !== null) throw new InvalidArgumentError(reason);
  return text;
}

function createCommand(): Command {
  const defaults = DEFAULT_OPTIONS;
  return new Command('soak')
    .usage('[options]')
    .description(
      'Kills, freezes and restarts workers, Temporal and Postgres while conversations run, then lets everything come to its end and checks that nothing was lost and nothing happened twice.',
    )
    .addOption(new Option('--kills <number>', 'strikes').default(defaults.kills).argParser(count(1, 100_000)))
    .addOption(
      new Option('--seed <number>', 'decides what strikes when').default(defaults.seed).argParser(count(0, 2 ** 31)),
    )
    .addOption(
      new Option('--at <point>', 'only kills at a crash point, such as commitCompaction:after-write').argParser(
        crashPoint,
      ),
    )
    .addOption(new Option('--workers <number>', 'worker processes').default(defaults.workers).argParser(count(1, 20)))
    .addOption(
      new Option('--conversations <number>', 'open at any time')
        .default(defaults.conversations)
        .argParser(count(1, 200)),
    )
    .addOption(
      new Option('--files <number>', 'files of a reading task').default(defaults.files).argParser(count(1, 200)),
    )
    .addOption(new Option('--lines <number>', 'lines of a file').default(defaults.lines).argParser(count(1, 1_000)))
    .addOption(
      new Option('--window <number>', "thousand tokens of the model's window")
        .default(defaults.window)
        .argParser(count(8, 1_000)),
    )
    .addOption(
      new Option('--minutes <number>', 'no strike begins later').default(defaults.minutes).argParser(count(1, 1_440)),
    )
    .addOption(
      new Option('--patience <milliseconds>', 'how long a strike waits for the one before to be overcome')
        .default(defaults.patience)
        .argParser(count(0, 60_000)),
    )
    .addOption(
      new Option('--latency <milliseconds>', "until the model's first token")
        .default(defaults.latency)
        .argParser(count(0, 60_000)),
    )
    .option('--json', 'print one JSON object on the last line')
    .option('--keep', 'leave the folder with logs and data')
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
}

/**
 * Reads the command line. @returns `null` when only the help was asked for, which is then printed
 * @throws UsageError naming the wrong flag
 */
export function parseOptions(args: readonly string[]): SoakOptions | null {
  const command = createCommand();
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return null;
    throw new UsageError('usage', error.message.replace(/^error: /u, ''), '`npm run soak -- --help` shows the flags.');
  }
  return { ...DEFAULT_OPTIONS, ...command.opts<Partial<SoakOptions>>() };
}
