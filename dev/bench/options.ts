import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../src/cli/usage-error.ts';
import { parseCommand, wholeNumber } from '../command-line.ts';

/** Run only when named: they need data of the user's, or take long. */
const NAMED_ONLY = [
  'recall',
  'dialogues',
  'search-features',
  'memory-search',
  'memory',
  'load',
  'takeover',
  'control',
  'pages',
] as const;
const USUAL = ['steps', 'throughput', 'history', 'growth', 'step-writes', 'planning', 'server'] as const;

/** In the order in which they are run and shown. */
const BENCHMARK_NAMES = [...NAMED_ONLY, ...USUAL] as const;

export type BenchmarkName = (typeof BENCHMARK_NAMES)[number];

export interface BenchOptions {
  readonly names: readonly BenchmarkName[];
  /** Times that each comparison is repeated. */
  readonly rounds: number;
  readonly check: boolean;
  readonly json: boolean;
  /** Postgres with fsync. */
  readonly durable: boolean;
  /** Folder with facts and questions for `recall`. */
  readonly recallData?: string;
  /** Of the sessions that `memory` plants its facts in. */
  readonly seed: number;
  /** `memory` writes its table into docs/preset-figures.md. */
  readonly writePage: boolean;
  /** Entries that `memory-search` searches: a conversation for each number, or an agent. */
  readonly entries: readonly number[];
  /** Entries of each conversation of the agent that `memory-search` searches. Default: it searches one conversation. */
  readonly entriesEach?: number;
  /** Minutes of `load`. */
  readonly minutes: number;
  /** Conversations of 1,000 entries that `load` fills the database with. */
  readonly conversations: number;
}

const EXAMPLES = `
Examples:
  $ npm run bench
  $ npm run bench -- steps throughput --rounds 9
  $ npm run bench -- --check --json
  $ npm run bench -- recall --recall-data <folder>
  $ npm run bench -- dialogues                 (how often search finds the turn that answers)
  $ npm run bench -- search-features           (typos, phrases, identifiers, paths, languages without spaces)
  $ npm run bench -- memory-search --entries 100000,1000000   (half an hour: a million entries are indexed first)
  $ npm run bench -- memory-search --entries 1000 --entries-each 20   (50 conversations of an agent)
  $ npm run bench -- memory --seed 2           (what each preset still knows after 1, 5 and 10 compactions)
  $ npm run bench -- load --minutes 10         (200 open turns; fills a database of 2,000 conversations)
  $ npm run bench -- takeover --rounds 30      (how soon another worker goes on; half an hour)
  $ npm run bench -- control                   (how soon a stop reaches a running tool)
  $ npm run bench -- pages                     (5,000 entries in a browser; after npm run build)

Exit codes:
    0  measured; with --check: every target is met
    1  with --check: a target was missed; or the bench itself failed
    2  wrong flags
  130  interrupted with Ctrl-C`;

function parseEntries(text: string): readonly number[] {
  return text.split(',').map(wholeNumber(1_000, 10_000_000));
}

function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (!(minutes >= 0.5 && minutes <= 1_440)) throw new InvalidArgumentError('Minutes are a number from 0.5 to 1,440.');
  return minutes;
}

function createCommand(): Command {
  const number = (flags: string, meaning: string, low: number, high: number): Option =>
    new Option(flags, meaning).argParser(wholeNumber(low, high));
  return (
    new Command('bench')
      .description(
        'Measures what Holdfast costs: against a raw Temporal workflow that does the same work, and against itself at other sizes. Servers of its own, the simulator as the model; docs/measurements.md explains the figures.',
      )
      .addArgument(
        new Argument('[names...]', `what to measure; default: everything but ${NAMED_ONLY.join(', ')}`).choices(
          BENCHMARK_NAMES,
        ),
      )
      .addOption(number('--rounds <number>', 'times each comparison is repeated', 1, 100).default(7))
      .option('--recall-data <folder>', 'facts.jsonl and questions.jsonl for recall')
      .addOption(
        new Option('--entries <numbers>', 'entries of memory-search')
          .default([100_000], '100000')
          .argParser(parseEntries),
      )
      .addOption(
        number(
          '--entries-each <number>',
          'spread the entries of memory-search over conversations of so many, and search by agent',
          1,
          1_000,
        ),
      )
      .addOption(number('--seed <number>', 'of the sessions of memory', 0, 2 ** 31).default(1))
      .option('--write-page', 'write the table of memory into docs/preset-figures.md', false)
      .addOption(new Option('--minutes <number>', 'length of load').default(10).argParser(parseMinutes))
      // Postgres scans small tables whole, because that costs less than their indexes: of 200 conversations the branches, not of 1,500.
      .addOption(
        number(
          '--conversations <number>',
          'conversations of 1,000 entries that load fills the database with',
          1_000,
          100_000,
        ).default(2_000),
      )
      .option('--check', 'exit with 1 when a target is missed', false)
      .option('--json', 'print one JSON object on the last line', false)
      .option(
        '--durable',
        "Postgres waits for its disk at every commit, which Temporal's development server never does",
        false,
      )
      .addHelpText('after', EXAMPLES)
  );
}

/**
 * @returns `null` when only the help was asked for
 * @throws UsageError
 */
export function parseOptions(args: readonly string[]): BenchOptions | null {
  const command = createCommand();
  if (!parseCommand(command, args)) return null;
  const flags = command.opts<Omit<BenchOptions, 'names'>>();
  const wanted: readonly string[] = command.args.length === 0 ? USUAL : command.args;
  if (wanted.includes('recall') && flags.recallData === undefined) {
    throw new UsageError('usage', 'recall needs --recall-data <folder>.', 'npm run bench -- --help');
  }
  return { ...flags, names: BENCHMARK_NAMES.filter((name) => wanted.includes(name)) };
}
