import { createInterface } from 'node:readline/promises';
import type { Interface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Holdfast } from '../../client/holdfast.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { withClient } from '../connect.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { showTurn } from '../follow/show-turn.ts';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import type { Output } from '../output.ts';
import { UsageError } from '../usage-error.ts';

interface ChatFlags extends ConnectionFlags {
  readonly agent?: string;
  readonly model?: string;
}

/** `holdfast chat`: messages and answers in turn, in one terminal. */
export function chatCommand(): Command {
  return withConnections(
    holdfastCommand('chat', {
      description:
        'Talks with an agent: type a message, watch its turn, type the next. The arrow keys bring earlier messages back; a line that ends with \\ goes on in the next one. While a turn runs, Esc stops it, and y and n decide on a call that waits for approval. Ctrl-D leaves; the conversation stays, and `holdfast chat last` goes on with it.',
      examples: ['npx holdfast chat', 'npx holdfast chat last', 'npx holdfast chat --agent reviewer'],
    }),
  )
    .argument('[conversation]', 'go on with this one: id, its beginning or end, or `last`')
    .option('--agent <name>', 'agent of a new conversation (default: `default`)')
    .option('--model <provider/model>', "instead of the agent's, for a new conversation")
    .action(chat);
}

async function chat(reference: string | undefined, flags: ChatFlags): Promise<void> {
  if (!process.stdin.isTTY || flags.json === true) {
    throw new UsageError('usage', '`chat` needs a terminal.', 'In a pipe use `npx holdfast start` and `send --watch`.');
  }
  const output = openOutput();
  await withClient(flags, {}, async (client) => {
    let conversationId = reference === undefined ? null : await findConversation(client, reference);
    const history: string[] = [];
    output.line(output.style.dim('Ctrl-D leaves · \\ at the end of a line goes on in the next · Esc stops a turn'));
    for (;;) {
      const message = await readMessage(history);
      if (message === null) break;
      if (message.trim() === '') continue;
      conversationId = await takeTurn(client, output, { conversationId, message, flags });
    }
    // How each turn ended was told.
    process.exitCode = undefined;
    if (conversationId !== null) output.line(`\n  go on: npx holdfast chat ${shortId(conversationId)}`);
  });
}

async function takeTurn(
  client: Holdfast,
  output: Output,
  { conversationId, message, flags }: { conversationId: string | null; message: string; flags: ChatFlags },
): Promise<string> {
  const { agent, model } = flags;
  if (conversationId === null) {
    const started = await client.start(message, definedOf({ agent, model }));
    await showTurn(client, output, { conversationId: started.conversationId, turnId: null, json: false, inChat: true });
    return started.conversationId;
  }
  const { turn, entryCount } = await client.conversation.get({ conversationId });
  await client.conversation.send({ conversationId, content: message });
  const isOpen = turn !== null && turn.state !== 'ended';
  const target = isOpen ? { turnId: turn.turnId } : { turnId: null, afterTurnId: turn?.turnId ?? null };
  await showTurn(client, output, { conversationId, ...target, afterEntry: entryCount, json: false, inChat: true });
  return conversationId;
}

/** One message, of several lines where they end with `\`; `null` at the end of input. */
async function readMessage(history: string[]): Promise<string | null> {
  // Opened for each message: keys of a turn that runs are not for it.
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    history: [...history],
    historySize: 200,
  });
  try {
    const message = await readLines(lines);
    if (message !== null && message.trim() !== '') history.unshift(message.replaceAll('\n', ' '));
    return message;
  } finally {
    lines.close();
  }
}

async function readLines(lines: Interface): Promise<string | null> {
  const left = new Promise<null>((resolve) => {
    lines.once('close', () => resolve(null));
    lines.once('SIGINT', () => resolve(null));
  });
  let message = '';
  for (;;) {
    const line = await Promise.race([lines.question(message === '' ? '\n> ' : '  '), left]);
    if (line === null) return null;
    if (!line.endsWith('\\')) return message + line;
    message += `${line.slice(0, -1)}\n`;
  }
}
