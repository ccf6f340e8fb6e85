import { localCommand } from '../command.ts';
import { findConnections } from '../connect.ts';
import { shellWord } from '../shell-word.ts';

const env = localCommand({
  description:
    'Prints the servers of this folder as `export` lines, for other programs and folders. The address of Postgres holds its password.',
  examples: ['eval "$(npx holdfast env)"', 'npx holdfast env --json | jq -r .DATABASE_URL'],
  servers: true,
  async run(_call, flags) {
    const { databaseUrl, databaseListenUrl, temporalAddress, temporalNamespace, simulatorUrl } =
      await findConnections(flags);
    const variables = {
      DATABASE_URL: databaseUrl,
      ...(databaseListenUrl !== null && { DATABASE_LISTEN_URL: databaseListenUrl }),
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: temporalNamespace,
      ...(simulatorUrl !== null && { HOLDFAST_SIMULATOR_URL: simulatorUrl }),
    };
    const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${shellWord(value)}`);
    return { json: variables, lines };
  },
});

export const commands = { env };
