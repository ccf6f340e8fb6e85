import { localCommand } from '../command.ts';
import { findDatabaseUrl } from '../connect.ts';
import { databaseUrlOption } from '../holdfast-command.ts';
import { plural } from '../render/text/numbers.ts';
import { count, option } from '../options.ts';

/** A statement that reads all partitions locks each with its indexes, and the lock table of a server holds thousands. */
const MAXIMUM_PARTITIONS = 64;

const migrate = localCommand({
  description:
    'Applies missing migrations in order, each in a transaction. Many may run it at once. Run it right before a deploy: workers of an earlier version keep running, but cannot start again.',
  examples: ['npx holdfast db migrate', 'npx holdfast db migrate --database-url postgres://holdfast@db/holdfast'],
  options: [
    databaseUrlOption(),
    option(
      '--embeddings <dimensions>',
      'also make the table of vectors, for search by meaning; needs pgvector 0.8',
      count(1, 2_000),
    ),
    option(
      '--partitions <number>',
      'of a new database: divide the tables that grow with each step, by conversation (docs/database.md)',
      count(2, MAXIMUM_PARTITIONS),
    ),
    option('--tenants', 'also keep tenants apart by row-level security, for `holdfast server --keys`'),
  ],
  async run(_call, flags) {
    const url = await findDatabaseUrl(flags);
    const [{ openDatabase }, { isolateTenants }, { migrate: applyMigrations, migrateEmbeddings }] = await Promise.all([
      import('../../store/database/pooler.ts'),
      import('../../store/database/migration-ledger.ts'),
      import('../../store/database/migrate.ts'),
    ]);
    const database = await openDatabase({ url, applicationName: 'holdfast-migrate', maximumConnections: 1 });
    try {
      const result = await applyMigrations(database, undefined, flags.partitions);
      if (flags.tenants === true) await isolateTenants(database);
      if (flags.embeddings !== undefined) await migrateEmbeddings(database, flags.embeddings);
      const lines = [
        ...migrateLines(result.applied),
        ...(flags.tenants === true ? ['Row-level security keeps tenants apart.'] : []),
        ...(flags.embeddings === undefined ? [] : [`The table of vectors has ${flags.embeddings} dimensions.`]),
      ];
      return { json: result, lines };
    } finally {
      await database.end({ timeout: 5 });
    }
  },
});

export const commands = { migrate };

function migrateLines(applied: readonly string[]): string[] {
  if (applied.length === 0) return ['The database is up to date.'];
  return [`Applied ${plural(applied.length, 'migration')}:`, ...applied.map((name) => `  ${name}`)];
}
