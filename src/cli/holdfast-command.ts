import { Command, Option } from 'commander';
import { ENVIRONMENT_VARIABLES } from '../config/environment.ts';
import { UsageError } from './usage-error.ts';

/** A command that throws its errors: `main` prints all of them alike. */
export function newCommand(name: string): Command {
  return new Command(name).exitOverride().configureOutput({ outputError: () => undefined });
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
  return new Option('--tenant <name>', 'tenant of a shared service').default('default');
}

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
export function serverOptions(): Option[] {
  return [
    databaseUrlOption(),
    new Option(
      '--temporal-address <host:port>',
      'Temporal (default: TEMPORAL_ADDRESS, else the local stack)',
    ).argParser(formOf('--temporal-address', 'TEMPORAL_ADDRESS')),
    new Option('--temporal-namespace <name>', 'namespace (default: TEMPORAL_NAMESPACE, else `default`)'),
  ].map((option) => option.helpGroup('Servers:'));
}
