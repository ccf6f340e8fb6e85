import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { findDatabaseUrl } from '../connect.ts';
import { databaseUrlOption, holdfastCommand, withJson } from '../holdfast-command.ts';
import type { JsonOption } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { plural } from '../render/text/numbers.ts';

/** A statement that reads all partitions locks each with its indexes, and the lock table of a server holds thousands. */
const MAXIMUM_PARTITIONS = 64;

interface MigrateFlags extends JsonOption {
  readonly embeddings?: number;
  readonly partitions?: number;
  readonly tenants?: true;
  readonly databaseUrl?: string;
}

/** `holdfast db migrate`: brings the database to this version. */
export function migrateCommand(): Command {
  return withJson(
    holdfastCommand('migrate', {
      description:
        'Applies the migrations that the database lacks, in order, each in a transaction. Safe to run at any time and from many places at once.',
      examples: ['npx holdfast db migrate', 'npx holdfast db migrate --database-url postgres://holdfast@db/holdfast'],
    }),
  )
    .addOption(databaseUrlOption())
    .addOption(
      new Option(
        '--embeddings <dimensions>',
        'also make the table of vectors, for search by meaning; needs pgvector 0.8',
      ).argParser(parseDimensions),
    )
    .addOption(
      new Option(
        '--partitions <number>',
        'of a new database: divide the tables that grow with each step, by conversation (docs/database.md)',
      ).argParser(parsePartitions),
    )
    .option('--tenants', 'also keep tenants apart by row-level security, for `holdfast server --keys`')
    .action(applyMigrations);
}

function parseDimensions(text: string): number {
  const dimensions = Number(text);
  if (Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= 2_000) return dimensions;
  throw new InvalidArgumentError('Dimensions are a whole number from 1 to 2,000, as embeddings.dimensions names it.');
}

function parsePartitions(text: string): number {
  const partitions = Number(text);
  if (Number.isInteger(partitions) && partitions >= 2 && partitions <= MAXIMUM_PARTITIONS) return partitions;
  throw new InvalidArgumentError(`Partitions are a whole number from 2 to ${MAXIMUM_PARTITIONS}.`);
}

function migrateLines(applied: readonly string[]): string[] {
  if (applied.length === 0) return ['The database is up to date.'];
  return [`Applied ${plural(applied.length, 'migration')}:`, ...applied.map((name) => `  ${name}`)];
}

async function applyMigrations(flags: MigrateFlags): Promise<void> {
  const output = openOutput();
  const url = await findDatabaseUrl(flags);
  const [{ openDatabase }, { isolateTenants }, { migrate, migrateEmbeddings }] = await Promise.all([
    import('../../store/database/pooler.ts'),
    import('../../store/database/migration-ledger.ts'),
    import('../../store/database/migrate.ts'),
  ]);
  const database = await openDatabase({ url, applicationName: 'holdfast-migrate', maximumConnections: 1 });
  try {
    const result = await migrate(database, undefined, flags.partitions);
    if (flags.tenants === true) await isolateTenants(database);
    if (flags.embeddings !== undefined) await migrateEmbeddings(database, flags.embeddings);
    if (flags.json === true) output.json(result);
    else output.lines(migrateLines(result.applied));
  } finally {
    await database.end({ timeout: 5 });
  }
}
