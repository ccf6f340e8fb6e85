import { Command } from 'commander';
import type { Option } from 'commander';
import { ENVIRONMENT_VARIABLES } from '../config/environment.ts';
import { option } from './options.ts';
import { UsageError } from './usage-error.ts';

/** A command that throws its errors, with how it is used: `main` prints all of them alike. */
export function newCommand(name: string): Command {
  const command = new Command(name).configureOutput({ outputError: () => undefined });
  return command.exitOverride((error) => {
    throw Object.assign(error, { usage: `npx ${command.createHelp().commandUsage(command)}` });
  });
}

export interface JsonOption {
  readonly json?: true;
}

export interface ConnectionFlags extends JsonOption {
  readonly databaseUrl?: string | undefined;
  readonly temporalAddress?: string;
  readonly temporalNamespace?: string;
  /** Of commands that list what a tenant has. */
  readonly tenant?: string;
}

export const tenantOption = () => option('--tenant <name>', 'tenant of a shared service', undefined, 'default');

export const databaseUrlOption = () =>
  option(
    '--database-url <url>',
    'Postgres (default: DATABASE_URL, else the local stack)',
    formOf('--database-url', 'DATABASE_URL'),
  );

/** Refuses a flag's value as the variable of that name would be refused. The value is not shown: it may hold a password. */
function formOf(flag: string, variable: 'DATABASE_URL' | 'TEMPORAL_ADDRESS'): (text: string) => string {
  return (text) => {
    const form = ENVIRONMENT_VARIABLES.find(({ name }) => name === variable)?.form;
    if (form == null || form.pattern.test(text)) return text;
    throw new UsageError('usage', `The value of ${flag} is not what it takes.`, `Give ${form.words}.`);
  };
}

/** Explained once, by `holdfast --help`: every command but a few has them. */
export const SERVERS_HELP = `Servers, found in holdfast.yaml or else the stack of \`holdfast dev\`, here or above:
  --database-url <url>            Postgres (default: DATABASE_URL, else found)
  --temporal-address <host:port>  Temporal (default: TEMPORAL_ADDRESS, else found)
  --temporal-namespace <name>     its namespace (default: TEMPORAL_NAMESPACE)`;

/** Flags that win over the environment and the local stack. */
export function serverOptions(): Option[] {
  return [
    databaseUrlOption(),
    option('--temporal-address <host:port>', '', formOf('--temporal-address', 'TEMPORAL_ADDRESS')),
    option('--temporal-namespace <name>', ''),
  ].map((each: Option) => each.hideHelp());
}
