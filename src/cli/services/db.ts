import { temporalAt } from '../../temporal/profile.ts';
import { localCommand } from '../command.ts';
import { findConnections } from '../connect.ts';
import { requiredOption } from '../options.ts';

const adopt = localCommand({
  description:
    'Gives the database to another Temporal namespace, such as one that was set up again. The first worker recorded the old one, and workers and clients of others are refused. Stop workers, servers and programs that send first. Turns that were open there end as interrupted within a minute.',
  examples: ['npx holdfast db adopt --namespace default'],
  servers: true,
  options: [requiredOption('--namespace <name>', 'namespace that the database belongs to from now on')],
  async run(_call, flags) {
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
        const line = `The database belongs to the namespace ${namespace.name} (${namespace.id}) from now on.`;
        return { json: { namespace, before }, lines: [line] };
      } finally {
        await client.connection.close();
      }
    } finally {
      await database.end({ timeout: 5 });
    }
  },
});

export const commands = { adopt };
