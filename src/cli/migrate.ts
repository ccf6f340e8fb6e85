import type { Command } from 'commander';
import { findDatabaseUrl } from './connect.ts';
import { databaseUrlOption, holdfastCommand, withJson } from './holdfast-command.ts';
import type { JsonOption } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { plural } from './render/numbers.ts';

interface MigrateFlags extends JsonOption {
  readonly databaseUrl?: string;
}

/** `holdfast migrate`: brings the database to this version. */
export function migrateCommand(): Command {
  return withJson(
    holdfastCommand('migrate', {
      summary: 'bring the database to this version',
      description:
        'Applies the migrations that the database lacks, in order, each in a transaction. Safe to run at any time and from many places at once.',
      examples: ['npx holdfast migrate', 'npx holdfast migrate --database-url postgres://holdfast@db/holdfast'],
    }),
  )
    .addOption(databaseUrlOption())
    .action(applyMigrations);
}

async function applyMigrations(flags: MigrateFlags): Promise<void> {
  const output = openOutput();
  const url = await findDatabaseUrl(flags);
  const [{ connectDatabase }, { migrate }] = await Promise.all([
    import('../store/database.ts'),
    import('../store/migrate.ts'),
  ]);
  const database = connectDatabase({ url, applicationName: 'holdfast-migrate', maximumConnections: 1 });
  try {
    const { applied } = await migrate(database);
    if (flags.json === true) output.json({ applied });
    else if (applied.length === 0) output.line('The database is up to date.');
    else output.lines([`Applied ${plural(applied.length, 'migration')}:`, ...applied.map((name) => `  ${name}`)]);
  } finally {
    await database.end({ timeout: 5 });
  }
}
