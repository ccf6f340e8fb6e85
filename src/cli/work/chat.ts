import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { textOf } from '../../context/log/content.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { clientCommand } from '../command.ts';
import type { ClientCall } from '../command.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { CHAT_COMMAND, pinForm } from '../follow/keys.ts';
import { showTurn } from '../follow/show-turn.ts';
import type { TurnTarget } from '../follow/turn-choice.ts';
import { entryListLines } from '../render/lists/entry-list.ts';
import { wrapWords } from '../render/text/text-width.ts';
import { UsageError } from '../usage-error.ts';
import { turnThatReads } from './send.ts';
import { requireAgent } from './start.ts';
import { argument, option } from '../options.ts';

const KEYS = 'Ctrl-D leaves · \\ at the end of a line continues it · Esc stops a turn · /help';
const MORE_KEYS =
  'While a turn runs, a line goes into it; while a call waits, y or n decides on it · /pin <rule> and /unpin <number> go to the agent · arrow keys: earlier messages · Ctrl-C clears the line, or leaves';
/** Entries of the conversation in which its earlier messages are looked for, and how many of them are shown. */
const ENTRIES_READ = 100;
const ENTRIES_SHOWN = 4;

type Screen = Pick<ClientCall, 'client' | 'output'>;

const chat = clientCommand({
  description:
    'Talks with an agent: type a message, watch its turn, type the next. The arrow keys bring earlier messages back. A line that ends with \\ goes on in the next one; pasted lines are one message. While a turn runs, a line goes into it, Esc stops it, and y or n with Enter decides on a waiting call. Ctrl-D leaves; `holdfast chat last` goes on with the conversation. `/help` shows these keys.',
  examples: ['npx holdfast chat', 'npx holdfast chat last', 'npx holdfast chat --agent reviewer'],
  arguments: [argument('[conversation]', 'go on with this one: id, its beginning or end, or `last`')],
  options: [
    option('--agent <name>', 'agent of a new conversation (default: `default`)'),
    option('--model <provider/model>', "instead of the agent's, for a new conversation"),
  ],
  needs: ({ agent }) => ({ agents: agent !== undefined }),
  async run(call, flags, reference) {
    const { client, output } = call;
    if (!process.stdin.isTTY || flags.json === true) {
      throw new UsageError(
        'usage',
        '`chat` needs a terminal.',
        'In a pipe use `npx holdfast start` and `send --watch`.',
      );
    }
    if (flags.agent !== undefined) await requireAgent(call, flags.agent);
    let conversationId = reference === undefined ? null : await findConversation(client, reference);
    output.line(output.style.dim(KEYS));
    const history = conversationId === null ? [] : await openConversation(call, conversationId);
    for (;;) {
      const message = await readMessage(history);
      if (message === null) break;
      const [word] = CHAT_COMMAND.exec(message) ?? [];
      if (word !== undefined)
        output.lines(helpLines(word, conversationId).flatMap((line) => wrapWords(line, output.columns)));
      else if (message.trim() !== '') conversationId = await takeTurn(call, conversationId, message, flags);
    }
    // How each turn ended was told.
    process.exitCode = undefined;
    if (conversationId !== null) output.line(`\n  go on: npx holdfast chat ${shortId(conversationId)}`);
  },
});

export const commands = { chat };

/** Other chats have commands that begin with a slash. @param word that begins so */
function helpLines(word: string, conversationId: string | null): string[] {
  const form = pinForm(word);
  if (form !== null) return [form];
  const others = conversationId === null ? [] : ['show', 'context', 'compact'];
  return [
    ...(word === '/help' ? [] : [`There is no ${word} here. To send such a line, begin it with a space.`]),
    KEYS,
    MORE_KEYS,
    ...others.map((name) => `  npx holdfast ${name} ${shortId(conversationId ?? '')}`),
  ];
}

/** Shows where it stands, and follows a turn that runs. @returns what its user said, newest first */
async function openConversation({ client, output }: ClientCall, conversationId: string): Promise<string[]> {
  const [{ turn }, { items: entries }] = await Promise.all([
    client.conversation.get({ conversationId }),
    client.log.entries({ conversationId, limit: ENTRIES_READ }),
  ]);
  const { columns, style } = output;
  output.lines(entryListLines(entries.slice(-ENTRIES_SHOWN), { columns, style, full: false }));
  if (turn !== null && turn.state !== 'ended')
    await showTurns({ client, output }, conversationId, { turnId: turn.turnId });
  const said = entries
    .filter(({ kind }) => kind === 'user')
    .map(({ content }) => textOf(content).replaceAll('\n', ' '));
  return said.filter((text) => text.trim() !== '').toReversed();
}

/** @returns the conversation, which the first message begins */
async function takeTurn(
  { client, output }: Screen,
  conversationId: string | null,
  message: string,
  { agent, model }: { readonly agent: string | undefined; readonly model: string | undefined },
): Promise<string> {
  if (conversationId === null) {
    const started = await client.start(message, definedOf({ agent, model }));
    output.line(output.style.dim(`conversation ${shortId(started.conversationId)}`));
    await showTurns({ client, output }, started.conversationId, { turnId: null });
    return started.conversationId;
  }
  const before = await client.conversation.get({ conversationId });
  await client.conversation.send({ conversationId, content: message });
  await showTurns({ client, output }, conversationId, turnThatReads(before));
  return conversationId;
}

/** Shows a turn, and then those that begin with messages that came too late for it. */
async function showTurns({ client, output }: Screen, conversationId: string, first: TurnTarget): Promise<void> {
  let target: TurnTarget | null = first;
  while (target !== null) {
    const turnId = await showTurn(client, output, { conversationId, ...target, json: false, inChat: true });
    if (turnId === null) return;
    const { turn, waitingMessages } = await client.conversation.get({ conversationId });
    const goesOn = waitingMessages > 0 || turn?.turnId !== turnId;
    target = goesOn ? { turnId: null, afterTurnId: turnId } : null;
  }
}

/** One message, of several lines where they end with `\` or were pasted together; `null` at the end of input. */
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

function readLines(lines: Interface): Promise<string | null> {
  const typed: string[] = [];
  let goesOn = false;
  lines.setPrompt('\n> ');
  lines.prompt();
  return new Promise((resolve) => {
    lines.once('close', () => resolve(null));
    lines.on('SIGINT', () => {
      if (lines.line === '') resolve(null);
      else lines.write(null, { ctrl: true, name: 'u' });
    });
    lines.on('line', (line) => {
      goesOn = line.endsWith('\\');
      typed.push(goesOn ? line.slice(0, -1) : line);
      lines.setPrompt('  ');
      if (goesOn) lines.prompt();
      // Pasted lines come at once, the last one perhaps without its end.
      setImmediate(() => {
        if (!goesOn && lines.line === '') resolve(typed.join('\n'));
      });
    });
  });
}
