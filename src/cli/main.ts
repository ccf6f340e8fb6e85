import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { COMMANDS } from './command-list.ts';
import type { ListedCommand, ListedGroup } from './command-list.ts';
import { describeExitCodes, EXIT_CODES } from './exit-codes.ts';
import { newCommand, SERVERS_HELP } from './holdfast-command.ts';
import { endOnSignals, exitCodeOfInterruption } from './interruption.ts';
import { endWhenPipeCloses, printJson, printRemark } from './output.ts';
import { readVersion } from '../temporal/package-version.ts';
import { stackFilePath, stateDirectory } from '../local/state-folder.ts';

/**
 * The command line, without running it. Only the command that is asked for is loaded: the others bring what takes longer to load than
 * most of them take to run.
 * @param argv what is asked for; `all`: every command
 */
export async function createProgram(argv: readonly string[] | 'all'): Promise<Command> {
  const program = newCommand('holdfast')
    .description('Durable agent turns that survive crashes and outlive the context window.')
    .usage('<command> [options]')
    .version(readVersion(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help, or with a command its own')
    .helpCommand(false)
    .option('--config <file>', 'configuration instead of holdfast.yaml here or above; with every command')
    // Set, so that a worker that the command starts finds it too.
    .on('option:config', (file: string) => {
      process.env['HOLDFAST_CONFIG'] = resolve(file);
    })
    .addHelpText('after', `\n${SERVERS_HELP}\n\n${firstSteps()}\n\nExit codes:\n${describeExitCodes()}`);
  const wanted = argv === 'all' ? argv : wordsOf(argv);
  for (const [title, commands] of COMMANDS) {
    program.commandsGroup(title);
    for (const listed of commands) program.addCommand(await commandOf(listed, wanted));
  }
  return program;
}

/** Names of commands come before arguments; `--config` alone takes a value before them. */
function wordsOf(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv.slice(2);
  if (first === '--config') return wordsOf(['', '', ...rest.slice(1)]);
  return first === undefined || (first.startsWith('-') && first !== '--') ? [] : [first, ...rest];
}

async function commandOf(listed: ListedCommand | ListedGroup, wanted: readonly string[] | 'all'): Promise<Command> {
  const isWanted = wanted === 'all' || wanted[0] === listed.name;
  if (!('commands' in listed)) {
    const make = isWanted ? await listed.load() : newCommand;
    return make(listed.name).summary(listed.summary);
  }
  const group = newCommand(listed.name)
    .summary(listed.summary)
    .description(`${listed.summary.charAt(0).toUpperCase()}${listed.summary.slice(1)}.`)
    .usage('<command> [options]')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false);
  const inside = wanted === 'all' ? wanted : isWanted ? wanted.slice(1) : [];
  for (const each of listed.commands) group.addCommand(await commandOf(each, inside));
  return group;
}

/** What can be done next in this folder. */
function firstSteps(): string {
  const isKnown = 'DATABASE_URL' in process.env || existsSync(stackFilePath(stateDirectory()));
  const steps = isKnown
    ? [
        ['npx holdfast chat', 'talk with an agent'],
        ['npx holdfast start "<task>"', 'give one a task and watch it'],
        ['npx holdfast list', 'what there is'],
      ]
    : [
        ['npx holdfast init', 'a holdfast.yaml, an own tool and a test of it'],
        ['npx holdfast dev', 'Postgres, Temporal, a worker and an offline model; leave it running'],
        ['npx holdfast chat', 'in another terminal'],
      ];
  return `Next:\n${steps.map(([what = '', why = '']) => `  $ ${what.padEnd(30)} ${why}`).join('\n')}`;
}

/** Makes the program for a command line. */
type LoadProgram = (argv: readonly string[]) => Promise<Command>;

/** Runs a command line as a process, which ends with it. @param load another program than `holdfast` */
export async function main(argv: readonly string[], load?: LoadProgram): Promise<void> {
  endWhenPipeCloses();
  endOnSignals();
  await runCommandLine(argv, load);
  process.exitCode = exitCodeOfInterruption() ?? process.exitCode;
  await leaveSoon();
}

/** Runs one command, says what went wrong, and sets the exit code. */
export async function runCommandLine(argv: readonly string[], load: LoadProgram = createProgram): Promise<void> {
  try {
    if (argv.length <= 2 && load === createProgram) {
      process.stdout.write(
        `Durable agent turns that survive crashes and outlive the context window.\n\n${firstSteps()}\n\nAll commands: npx holdfast --help\n`,
      );
      return;
    }
    const asked = helpAsOption(argv);
    await (await load(asked)).parseAsync([...asked]);
  } catch (error) {
    await report(error, argv);
  }
}

/** `help list` as `list --help`. */
function helpAsOption(argv: readonly string[]): readonly string[] {
  return argv[2] === 'help' ? [...argv.slice(0, 2), ...argv.slice(3), '--help'] : argv;
}

/** Milliseconds that connections get to close by themselves. */
const CLOSE_PATIENCE_MILLISECONDS = 250;

/** Ends the process once all output is written, also when a connection that is still being made would keep it for seconds. */
async function leaveSoon(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => {
      stream.write('', () => resolve());
    });
  }
  setTimeout(() => process.exit(), CLOSE_PATIENCE_MILLISECONDS).unref();
}

async function report(error: unknown, argv: readonly string[]): Promise<void> {
  const json = hasOption(argv, '--json');
  // Help and version are printed, then thrown; so is the help of a group that is named alone.
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) return;
  const { describeError, errorLines } = await import('./describe-error.ts');
  const described = describeError(error);
  const { code, message, next, exit } = described;
  process.exitCode = EXIT_CODES[exit].code;
  if (json) printJson({ error: { code, message, next } });
  else printRemark(errorLines(described, process.stderr.columns || null).join('\n'));
  if (process.env['HOLDFAST_DEBUG'] === '1') {
    printRemark(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** Also when the command line could not be understood. What stands after `--` is no option. */
function hasOption(argv: readonly string[], name: string): boolean {
  const end = argv.indexOf('--');
  const options = end === -1 ? argv : argv.slice(0, end);
  return options.some((option) => option === name || option.startsWith(`${name}=`));
}
