import { spawn } from 'node:child_process';
import { localCommand } from '../command.ts';
import { withReader } from '../connect.ts';
import { findConversation } from '../find-conversation.ts';
import { UsageError } from '../usage-error.ts';
import { argument, option } from '../options.ts';

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

const open = localCommand({
  description:
    "Opens Temporal's page of a conversation's turns, or of all turns, in a browser and prints its address. With --pages it opens Holdfast's own pages by a link that logs one browser in.",
  examples: ['npx holdfast open --pages', 'npx holdfast open last', 'npx holdfast open --json | jq -r .url'],
  servers: true,
  arguments: [argument('[conversation]', 'id, its beginning or end, or `last`')],
  options: [option('--pages', "Holdfast's own pages")],
  async run(_call, flags, reference) {
    if (flags.pages === true) return openAndTell(await linkToPages());
    const [{ readStack }, { turnWorkflowId }] = await Promise.all([
      import('../../local/stack-file.ts'),
      import('../../turn/temporal-names.ts'),
    ]);
    const temporal = readStack()?.temporal;
    if (temporal?.uiUrl == null) {
      throw new UsageError('usage', "The address of Temporal's pages is not known.", 'Start one: npx holdfast dev');
    }
    let url = `${temporal.uiUrl}/namespaces/${temporal.namespace}/workflows`;
    if (reference !== undefined) {
      const id = await withReader(flags, (client) => findConversation(client, reference));
      url += `/${encodeURIComponent(turnWorkflowId(id))}`;
    }
    return openAndTell(url);
  },
});

export const commands = { open };

function openAndTell(url: string) {
  if (process.stdout.isTTY) openPage(url);
  return { json: { url }, lines: [url] };
}

async function linkToPages(): Promise<string> {
  const [{ readStack }, { loginLink }] = await Promise.all([
    import('../../local/stack-file.ts'),
    import('../../server/login-link.ts'),
  ]);
  const url = readStack()?.server?.url;
  const link = url === undefined ? null : await loginLink(url).catch(() => null);
  if (link === null)
    throw new UsageError('usage', 'No server of `holdfast dev` answers here.', 'Start one: npx holdfast dev');
  return link;
}

function openPage(url: string): void {
  const opener = spawn(OPENERS[process.platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true });
  // A machine without a browser has the address, which is printed.
  opener.on('error', () => undefined);
  opener.unref();
}
