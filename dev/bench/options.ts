import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../src/cli/usage-error.ts';

/** In the order in which they are run and shown. */
export const BENCHMARK_NAMES = [
  'steps',
  'throughput',
  'history',
  'growth',
  'append',
  'step-writes',
  'deletion',
  'planning',
  'live-text',
  'stop',
  'worker-memory',
  'server',
  'recall',
  'dialogues',
  'search-features',
  'memory-search',
  'memory',
  'load',
  'takeover',
] as const;

/** Run only when named: they need data of the user's, or take long. They ask Postgres alone. */
const SEARCH_BENCHMARKS = [
  'recall',
  'dialogues',
  'search-features',
  'memory-search',
  'memory',
] as const satisfies readonly BenchmarkName[];

export type BenchmarkName = (typeof BENCHMARK_NAMES)[number];

export interface BenchOptions {
  readonly names: readonly BenchmarkName[];
  /** Times that each comparison is repeated. */
  readonly rounds: number;
  readonly check: boolean;
  readonly json: boolean;
  /** Postgres with fsync. */
  readonly durable: boolean;
  /** Folder with facts and questions for `recall`; `null` unless given. */
  readonly recallData: string | null;
  /** Of the sessions that `memory` plants its facts in, and of the talk of `dialogues`. */
  readonly seed: number;
  /** `memory` writes its table into docs/presets.md. */
  readonly writesPage: boolean;
  /** Entries that `memory-search` searches: a conversation for each number, or an agent. */
  readonly entries: readonly number[];
  /** Entries of each conversation of the agent that `memory-search` searches; `null`: it searches one conversation. */
  readonly entriesEach: number | null;
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

Exit codes:
    0  measured; with --check: every target is met
    1  with --check: a target was missed; or the bench itself failed
    2  wrong flags
  130  interrupted with Ctrl-C`;

function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
    throw new InvalidArgumentError('Rounds are a whole number from 1 to 100.');
  }
  return rounds;
}

function parseEntries(text: string): readonly number[] {
  const sizes = text.split(',').map(Number);
  if (sizes.some((entries) => !Number.isInteger(entries) || entries < 1_000 || entries > 10_000_000)) {
    throw new InvalidArgumentError('Entries are whole numbers from 1,000 to 10,000,000, with commas between them.');
  }
  return sizes;
}

function parseEntriesEach(text: string): number {
  const entries = Number(text);
  if (!Number.isInteger(entries) || entries < 1 || entries > 1_000) {
    throw new InvalidArgumentError('Entries of each conversation are a whole number from 1 to 1,000.');
  }
  return entries;
}

function parseSeed(text: string): number {
  const seed = Number(text);
  if (!Number.isInteger(seed) || seed < 0) throw new InvalidArgumentError('A seed is a whole number from 0 on.');
  return seed;
}

function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (!(minutes >= 0.5 && minutes <= 1_440)) throw new InvalidArgumentError('Minutes are a number from 0.5 to 1,440.');
  return minutes;
}

function parseConversations(text: string): number {
  const conversations = Number(text);
  // Postgres scans small tables whole, because that costs less than their indexes: of 200 conversations the branches, not of 1,500.
  if (!Number.isInteger(conversations) || conversations < 1_000 || conversations > 100_000) {
    throw new InvalidArgumentError('Conversations are a whole number from 1,000 to 100,000.');
  }
  return conversations;
}

function createCommand(): Command {
  return new Command('bench')
    .description(
      'Measures what Holdfast costs: against a raw Temporal workflow that does the same work, and against itself at other sizes. Servers of its own, the simulator as the model; docs/measurements.md explains the figures.',
    )
    .addArgument(
      new Argument(
        '[names...]',
        'what to measure; default: everything but recall, dialogues, search-features, memory-search, memory, load and takeover',
      ).choices(BENCHMARK_NAMES),
    )
    .addOption(new Option('--rounds <number>', 'times each comparison is repeated').default(7).argParser(parseRounds))
    .option('--recall-data <folder>', 'facts.jsonl and questions.jsonl for recall')
    .addOption(
      new Option('--entries <numbers>', 'entries of memory-search')
        .default([100_000], '100000')
        .argParser(parseEntries),
    )
    .addOption(
      new Option(
        '--entries-each <number>',
        'spread the entries of memory-search over conversations of so many, and search by agent',
      ).argParser(parseEntriesEach),
    )
    .addOption(
      new Option('--seed <number>', 'of the sessions of memory and of dialogues').default(1).argParser(parseSeed),
    )
    .option('--write-page', 'write the table of memory into docs/presets.md')
    .addOption(new Option('--minutes <number>', 'length of load').default(10).argParser(parseMinutes))
    .addOption(
      new Option('--conversations <number>', 'conversations of 1,000 entries that load fills the database with')
        .default(2_000)
        .argParser(parseConversations),
    )
    .option('--check', 'exit with 1 when a target is missed')
    .option('--json', 'print one JSON object on the last line')
    .option('--durable', "Postgres waits for its disk at every commit, which Temporal's development server never does")
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
}

interface Flags {
  readonly rounds: number;
  readonly recallData?: string;
  readonly entries: readonly number[];
  readonly entriesEach?: number;
  readonly seed: number;
  readonly writePage?: true;
  readonly minutes: number;
  readonly conversations: number;
  readonly check?: true;
  readonly json?: true;
  readonly durable?: true;
}

/**
 * @returns `null` when only the help was asked for
 * @throws UsageError
 */
export function parseOptions(commandArguments: readonly string[]): BenchOptions | null {
  const command = createCommand();
  try {
    command.parse([...commandArguments], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return null;
    throw new UsageError('usage', error.message.replace(/^error: /u, ''), 'npm run bench -- --help');
  }
  const flags = command.opts<Flags>();
  const wanted = command.args;
  if (wanted.includes('recall') && flags.recallData === undefined) {
    throw new UsageError('usage', 'recall needs --recall-data <folder>.', 'npm run bench -- --help');
  }
  return {
    names: BENCHMARK_NAMES.filter((name) =>
      wanted.length === 0 ? !isSearch(name) && name !== 'load' && name !== 'takeover' : wanted.includes(name),
    ),
    recallData: flags.recallData ?? null,
    entries: flags.entries,
    entriesEach: flags.entriesEach ?? null,
    seed: flags.seed,
    writesPage: flags.writePage ?? false,
    minutes: flags.minutes,
    conversations: flags.conversations,
    rounds: flags.rounds,
    check: flags.check ?? false,
    json: flags.json ?? false,
    durable: flags.durable ?? false,
  };
}

export function isSearch(name: BenchmarkName): name is (typeof SEARCH_BENCHMARKS)[number] {
  return SEARCH_BENCHMARKS.some((each) => each === name);
}
