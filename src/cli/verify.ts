import type { Command } from 'commander';
import type { Database } from '../store/database.ts';
import { findSurroundings, withReader } from './connect.ts';
import { findConversation } from './find-conversation.ts';
import { holdfastCommand, withConnections } from './holdfast-command.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { verificationLines } from './render/verification-lines.ts';

interface VerifyFlags extends ConnectionFlags {
  readonly histories?: true;
}

/** `holdfast verify`: checks what must hold whatever was killed when. */
export function verifyCommand(): Command {
  return withConnections(
    holdfastCommand('verify', {
      summary: 'check that nothing is lost, doubled or half written',
      description:
        'Checks in Postgres what must hold whatever was killed when: every message taken once, entries without gaps, one result per tool call, complete summaries, views that rebuild byte for byte. Turns may run meanwhile. Exit code 1 when something does not hold.',
      examples: ['npx holdfast verify', 'npx holdfast verify last --histories', 'npx holdfast verify --json'],
    }),
  )
    .argument('[conversation]', 'only this one: id, its beginning or end, or `last` (default: all)')
    .option('--histories', 'ask Temporal too: open turns have an open workflow, no payload is large')
    .action(verifyAll);
}

async function verifyAll(reference: string | undefined, flags: VerifyFlags): Promise<void> {
  const output = openOutput();
  const conversationId =
    reference === undefined ? undefined : await withReader(flags, (client) => findConversation(client, reference));
  const { connections } = await findSurroundings(flags, { temporal: flags.histories === true });
  const [{ connectDatabase }, { requireCurrentSchema }, { verify }] = await Promise.all([
    import('../store/database.ts'),
    import('../store/migrate.ts'),
    import('../verify/verify.ts'),
  ]);
  const database = connectDatabase({ url: connections.databaseUrl, applicationName: 'holdfast-verify' });
  try {
    await requireCurrentSchema(database);
    const options = conversationId === undefined ? {} : { conversationId };
    const verification = await verify(database, options);
    const { temporalAddress: address, temporalNamespace: namespace } = connections;
    const asked = flags.histories === true ? await askTemporal(database, { address, namespace }, options) : [];
    const all = { ...verification, invariants: [...verification.invariants, ...asked] };
    const violations = all.invariants.reduce((sum, { breaches }) => sum + breaches.length, 0);
    if (flags.json === true) output.json({ violations, ...all });
    else output.lines(verificationLines(all, { style: output.style }));
    if (violations > 0) process.exitCode = 1;
  } finally {
    await database.end({ timeout: 5 });
  }
}

async function askTemporal(
  database: Database,
  temporal: { readonly address: string; readonly namespace: string },
  { conversationId = null, limit = 20 }: { readonly conversationId?: string | null; readonly limit?: number },
) {
  const [{ connectClient }, { verifyTemporal }] = await Promise.all([
    import('../temporal/connect.ts'),
    import('../verify/temporal-invariants.ts'),
  ]);
  const client = await connectClient(temporal);
  try {
    return await verifyTemporal(database, client, { conversationId, limit });
  } finally {
    await client.connection.close();
  }
}
