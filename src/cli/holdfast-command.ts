import { Command, Option } from 'commander';
import { ENVIRONMENT_VARIABLES } from '../config/environment.ts';
import { UsageError } from './usage-error.ts';
import { describeExitCodes } from './exit-codes.ts';

export interface CommandTexts {
  /** What the command does, for its own help. */
  readonly description: string;
  /** Whole command lines. */
  readonly examples: readonly string[];
}

/** A command that throws its errors: `main` prints all of them alike. */
export function newCommand(name: string): Command {
  return new Command(name).exitOverride().configureOutput({ outputError: () => undefined });
}

/** A command as all of them are: `--json`, an example and the exit codes in its help. */
export function holdfastCommand(name: string, texts: CommandTexts): Command {
  const examples = texts.examples.map((example) => `  $ ${example}`).join('\n');
  return newCommand(name)
    .description(texts.description)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', `\nExamples:\n${examples}\n\nExit codes:\n${describeExitCodes()}`);
}

/** What every command takes that prints results. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON instead of text');
}

export interface JsonOption {
  readonly json?: true;
}

export interface ConnectionFlags extends JsonOption {
  readonly databaseUrl?: string;
  readonly temporalAddress?: string;
  readonly temporalNamespace?: string;
  /** Of commands that list what a tenant has. */
  readonly tenant?: string;
}

export function tenantOption(): Option {
  return new Option('--tenant <name>', 'whose conversations, of a service that keeps tenants apart').default('default');
}

/** Postgres by a flag. */
export function databaseUrlOption(): Option {
  return new Option('--database-url <url>', 'Postgres (default: DATABASE_URL, else the local stack)').argParser(
    formOf('--database-url', 'DATABASE_URL'),
  );
}

/** Refuses a flag's value as the variable of that name would be refused. The value is not shown: it may hold a password. */
function formOf(flag: string, variable: 'DATABASE_URL' | 'TEMPORAL_ADDRESS'): (text: string) => string {
  return (text) => {
    const form = ENVIRONMENT_VARIABLES.find(({ name }) => name === variable)?.form;
    if (form == null || form.pattern.test(text)) return text;
    throw new UsageError('usage', `The value of ${flag} is not what it takes.`, `Give ${form.words}.`);
  };
}

/** Flags that win over the environment and the local stack. */
export function withConnections(command: Command): Command {
  const servers = [
    databaseUrlOption(),
    new Option(
      '--temporal-address <host:port>',
      'Temporal (default: TEMPORAL_ADDRESS, else the local stack)',
    ).argParser(formOf('--temporal-address', 'TEMPORAL_ADDRESS')),
    new Option('--temporal-namespace <name>', 'namespace (default: TEMPORAL_NAMESPACE, else `default`)'),
  ];
  withJson(command);
  for (const option of servers) command.addOption(option.helpGroup('Servers:'));
  return command;
}
