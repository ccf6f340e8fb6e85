import type { Command } from 'commander';
import type { Conversation } from '../../client/types.ts';
import { collectFiles, withAttachments } from './attachments.ts';
import { withClient } from '../connect.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { showTurn } from '../follow/show-turn.ts';
import type { TurnTarget } from '../follow/turn-choice.ts';
import { readText } from '../read-text.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { decideLines } from '../render/turn/waiting-call.ts';

interface SendFlags extends ConnectionFlags {
  readonly attach: readonly string[];
  readonly queue?: true;
  readonly messageId?: string;
  readonly watch?: true;
}

/** `holdfast send`: a message into a conversation. */
export function sendCommand(): Command {
  return withConnections(
    holdfastCommand('send', {
      description:
        'Sends a message. A running turn sees it at its next step; with --queue it starts the turn after. An idle conversation begins a turn. Returns when the message is stored.',
      examples: [
        'npx holdfast send last "Leave the tests alone"',
        'npx holdfast send last "Now the tests" --watch',
        'npx holdfast send 4f1c22ab "Now write the changelog" --queue',
        'git diff | npx holdfast send last -',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('<message>', 'what to say; `-` reads it from standard input')
    .option('--attach <files>', 'pictures, PDFs and texts that go with it, separated by commas', collectFiles, [])
    .option('--queue', 'start the next turn with it instead of steering the running one')
    .option('--watch', 'watch the turn that takes it until it ends')
    .option('--message-id <id>', 'your own id, which makes sending twice harmless')
    .action(send);
}

/** When what was sent is read; a turn that waits for a person takes no step before it has its decisions. */
function sentWords({ turn, waitingCalls }: Conversation, { queue }: Pick<SendFlags, 'queue'>): string {
  if (turn === null || turn.state === 'ended') return 'Sent; a turn begins with it.';
  if (waitingCalls.length === 0) {
    return queue === true ? 'Sent; the next turn begins with it.' : 'Sent; the running turn sees it at its next step.';
  }
  const calls = waitingCalls.map(({ call, tool }) => `${call} (${safeLine(tool)})`).join(', ');
  const waits = `the running turn waits for you to decide on ${waitingCalls.length === 1 ? 'call' : 'calls'} ${calls}`;
  return queue === true
    ? `Sent; ${waits}, and the next turn begins with it.`
    : `Sent; ${waits}, and sees it at its next step, after that.`;
}

/** A steering message is read by the turn that runs. */
function targetOf(
  { turn, entryCount }: Conversation,
  { queue }: Pick<SendFlags, 'queue'>,
): TurnTarget & {
  readonly afterEntry: number;
} {
  const isSteered = turn !== null && turn.state !== 'ended' && queue !== true;
  return isSteered
    ? { turnId: turn.turnId, afterEntry: entryCount }
    : { turnId: null, afterTurnId: turn?.turnId ?? null, afterEntry: entryCount };
}

async function send(reference: string, argument: string, flags: SendFlags): Promise<void> {
  const content = await withAttachments(await readText(argument, 'message'), flags.attach);
  const output = openOutput();
  await withClient(flags, {}, async (client) => {
    const conversationId = await findConversation(client, reference);
    const conversation = await client.conversation.get({ conversationId });
    const { messageId, duplicate } = await client.conversation.send({
      conversationId,
      content,
      mode: flags.queue === true ? 'queue' : 'steer',
      ...(flags.messageId !== undefined && { messageId: flags.messageId }),
    });
    if (flags.watch === true && !duplicate) {
      await showTurn(client, output, { conversationId, ...targetOf(conversation, flags), json: flags.json === true });
      return;
    }
    if (flags.json === true) {
      output.json({ conversationId, messageId, duplicate });
      return;
    }
    output.lines([
      ...(duplicate
        ? ['It had been sent before; nothing was written.']
        : [sentWords(conversation, flags), ...decideLines(conversation)]),
      `  watch it: npx holdfast watch ${shortId(conversationId)}`,
    ]);
  });
}
