import type { Command } from 'commander';
import { findConnections } from '../connect.ts';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { shellWord } from '../shell-word.ts';

/** `holdfast env`: the servers as variables of a shell. */
export function envCommand(): Command {
  return withConnections(
    holdfastCommand('env', {
      description:
        'Prints the servers that commands in this folder use as `export` lines, so that other programs, or this one in another folder, use them too. The address of Postgres holds its password.',
      examples: ['eval "$(npx holdfast env)"', 'npx holdfast env --json | jq -r .DATABASE_URL'],
    }),
  ).action(env);
}

async function env(flags: ConnectionFlags): Promise<void> {
  const output = openOutput();
  const { databaseUrl, databaseListenUrl, temporalAddress, temporalNamespace, simulatorUrl } =
    await findConnections(flags);
  const variables = {
    DATABASE_URL: databaseUrl,
    ...(databaseListenUrl !== null && { DATABASE_LISTEN_URL: databaseListenUrl }),
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: temporalNamespace,
    ...(simulatorUrl !== null && { HOLDFAST_SIMULATOR_URL: simulatorUrl }),
  };
  if (flags.json === true) output.json(variables);
  else output.lines(Object.entries(variables).map(([name, value]) => `export ${name}=${shellWord(value)}`));
}
