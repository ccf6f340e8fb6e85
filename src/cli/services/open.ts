import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { UsageError } from '../usage-error.ts';

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

/** `holdfast open`: Temporal's page of a conversation's turns. */
export function openCommand(): Command {
  return withConnections(
    holdfastCommand('open', {
      description:
        "Opens Temporal's page of the turns of a conversation in a browser, or of all turns, and prints its address.",
      examples: ['npx holdfast open last', 'npx holdfast open --json | jq -r .url'],
    }),
  )
    .argument('[conversation]', 'id, its beginning or end, or `last`')
    .action(open);
}

async function open(reference: string | undefined, flags: ConnectionFlags): Promise<void> {
  const output = openOutput();
  const [{ readStack }, { turnWorkflowId }] = await Promise.all([
    import('../../local/stack-file.ts'),
    import('../../turn/workflow-id.ts'),
  ]);
  const temporal = readStack()?.temporal;
  if (temporal?.uiUrl == null) {
    throw new UsageError('usage', "The address of Temporal's pages is not known.", 'Start one: npx holdfast dev');
  }
  let url = `${temporal.uiUrl}/namespaces/${temporal.namespace}/workflows`;
  if (reference !== undefined) {
    const [{ withReader }, { findConversation }] = await Promise.all([
      import('../connect.ts'),
      import('../find-conversation.ts'),
    ]);
    const id = await withReader(flags, (client) => findConversation(client, reference));
    url += `/${encodeURIComponent(turnWorkflowId(id))}`;
  }
  if (flags.json === true) output.json({ url });
  else output.line(url);
  if (!process.stdout.isTTY) return;
  const opener = spawn(OPENERS[process.platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true });
  // A machine without a browser has the address, which is printed.
  opener.on('error', () => undefined);
  opener.unref();
}
