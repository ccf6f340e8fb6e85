import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { approvalsCommand } from './approvals.ts';
import { branchesCommand, editCommand, forkCommand, regenerateCommand, switchCommand } from './branch-commands.ts';
import { compactCommand } from './compact.ts';
import { conformanceCommand } from './conformance.ts';
import { contextCommand } from './context.ts';
import { costCommand } from './cost.ts';
import { answerCommand, approveCommand, denyCommand } from './decide.ts';
import { describeError, errorLines } from './describe-error.ts';
import { dbCommand } from './db.ts';
import { devCommand } from './dev.ts';
import { doctorCommand } from './doctor.ts';
import { deleteCommand } from './delete.ts';
import { entryCommand } from './entry.ts';
import { envCommand } from './env.ts';
import { describeExitCodes, EXIT_CODES } from './exit-codes.ts';
import { explainErrorCommand } from './explain-error.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { labCommand } from './lab.ts';
import { listCommand } from './list.ts';
import { migrateCommand } from './migrate.ts';
import { modelsCommand } from './models.ts';
import { endOnSignals, exitCodeOfInterruption } from './interruption.ts';
import { endWhenPipeCloses, printJson, printRemark } from './output.ts';
import { readVersion } from './package-version.ts';
import { recallCommand } from './recall.ts';
import { reindexCommand } from './reindex.ts';
import { resumeCommand } from './resume.ts';
import { sendCommand } from './send.ts';
import { showCommand } from './show.ts';
import { simulatorCommand } from './simulator.ts';
import { startCommand } from './start.ts';
import { stopCommand } from './stop.ts';
import { summariesCommand } from './summaries.ts';
import { verifyCommand } from './verify.ts';
import { viewCommand } from './view.ts';
import { watchCommand } from './watch.ts';
import { workerCommand } from './worker.ts';

const doctor = (): Command => doctorCommand().summary('check this machine, with a fix for what is broken');

/** The commands, by what they are for, in the order of the help. */
const GROUPS: readonly (readonly [string, readonly (() => Command)[]])[] = [
  ['Work:', [startCommand, sendCommand, stopCommand, resumeCommand, watchCommand, listCommand, showCommand]],
  ['Approvals and questions:', [approveCommand, denyCommand, answerCommand, approvalsCommand]],
  ['Context and memory:', [contextCommand, viewCommand, compactCommand, summariesCommand, recallCommand, entryCommand]],
  ['Branches:', [branchesCommand, forkCommand, switchCommand, regenerateCommand, editCommand]],
  ['Models and cost:', [modelsCommand, costCommand, explainErrorCommand, conformanceCommand]],
  ['Files of conversations:', [labCommand, importCommand, exportCommand, deleteCommand]],
  [
    'Services:',
    [
      devCommand,
      envCommand,
      workerCommand,
      simulatorCommand,
      migrateCommand,
      dbCommand,
      reindexCommand,
      verifyCommand,
      doctor,
    ],
  ],
];

/** The whole command line, without running it. */
export function createProgram(): Command {
  const program = new Command('holdfast')
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
    .addHelpText(
      'after',
      `\nFirst steps:\n  $ npx holdfast dev\n  $ npx holdfast start "Read the README and say what this project does"     (in another terminal)\n\nExit codes:\n${describeExitCodes()}`,
    );
  for (const [title, commands] of GROUPS) {
    program.commandsGroup(title);
    for (const create of commands) program.addCommand(create());
  }
  // Errors come to `main`, which prints all of them alike.
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ outputError: () => undefined });
  }
  return program;
}

/** Runs one command of the CLI as a process, which ends with it. */
export async function main(argv: readonly string[]): Promise<void> {
  endWhenPipeCloses();
  endOnSignals();
  await runCommandLine(argv);
  process.exitCode = exitCodeOfInterruption() ?? process.exitCode;
  await leaveSoon();
}

/** Runs one command, says what went wrong, and sets the exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  try {
    if (argv.length <= 2) {
      program.outputHelp();
      return;
    }
    await program.parseAsync([...argv]);
  } catch (error) {
    report(error, argv);
  }
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

function report(error: unknown, argv: readonly string[]): void {
  const json = hasOption(argv, '--json');
  // Help and version are printed, then thrown.
  if (error instanceof CommanderError && error.exitCode === 0) return;
  const described = describeError(error, { databaseFlag: hasOption(argv, '--database-url') });
  const { code, message, next, exit } = described;
  process.exitCode = EXIT_CODES[exit].code;
  if (json) printJson({ error: { code, message, next } });
  else printRemark(errorLines(described).join('\n'));
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
