import type { Command } from 'commander';
import { temporalAt } from '../../temporal/profile.ts';
import { findConnections } from '../connect.ts';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';

interface DatabaseFlags extends ConnectionFlags {
  readonly namespace: string;
}

/** `holdfast db adopt`: makes a database that of another Temporal namespace. */
export function adoptCommand(): Command {
  return withConnections(
    holdfastCommand('adopt', {
      description:
        'The first worker records its namespace in the database, and workers and clients of another are refused. After a restore or a copy, `adopt` makes it that of --namespace. Turns that were open elsewhere end as interrupted within a minute. Stop the workers of the other namespace before.',
      examples: ['npx holdfast db adopt --namespace default'],
    }),
  )
    .requiredOption('--namespace <name>', 'namespace that the database belongs to from now on')
    .action(adopt);
}

async function adopt(flags: DatabaseFlags): Promise<void> {
  const output = openOutput();
  const { databaseUrl, temporalAddress } = await findConnections(flags);
  const [{ openDatabase }, { requireCurrentSchema }, stored, { connectClient }, { describeNamespace }] =
    await Promise.all([
      import('../../store/database/pooler.ts'),
      import('../../store/database/migrate.ts'),
      import('../../store/database/temporal-namespace.ts'),
      import('../../temporal/connect.ts'),
      import('../../temporal/namespace.ts'),
    ]);
  const database = await openDatabase({ url: databaseUrl, applicationName: 'holdfast-db', maximumConnections: 1 });
  try {
    await requireCurrentSchema(database);
    const client = await connectClient(
      temporalAt({ temporalAddress, temporalNamespace: flags.namespace }, process.env),
    );
    try {
      const before = await stored.readNamespace(database);
      const namespace = await describeNamespace(client);
      await stored.adoptNamespace(database, namespace);
      if (flags.json === true) output.json({ namespace, before });
      else output.line(`The database belongs to the namespace ${namespace.name} (${namespace.id}) from now on.`);
    } finally {
      await client.connection.close();
    }
  } finally {
    await database.end({ timeout: 5 });
  }
}
