import { definedOf } from '../../context/policy/defined-of.ts';
import type { Conversation } from '../../client/types.ts';
import { conversationCommand } from '../command.ts';
import { shortId } from '../find-conversation.ts';
import { showTurn } from '../follow/show-turn.ts';
import type { TurnTarget } from '../follow/turn-choice.ts';
import { readText, textArgument } from '../read-text.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { decideLines } from '../render/turn/waiting-call.ts';
import { attachOption, withAttachments } from './attachments.ts';
import { option } from '../options.ts';

const send = conversationCommand({
  description:
    'Sends a message. A running turn reads it at its next step; with --queue it starts the next turn. An idle conversation begins a turn. Returns when the message is stored.',
  examples: [
    'npx holdfast send last "Leave the tests alone"',
    'npx holdfast send last "Now the tests" --watch',
    'npx holdfast send 4f1c22ab "Now write the changelog" --queue',
    'git diff | npx holdfast send last -',
  ],
  arguments: [textArgument('<message>', 'what to say; `-` reads it from standard input', 'message')],
  options: [
    attachOption('pictures, PDFs and texts that go with it'),
    option('--queue', 'start the next turn with it instead of steering the running one'),
    option('--watch', 'watch the turn that takes it until it ends'),
    option('--message-id <id>', 'your own id, which makes sending twice harmless'),
  ],
  async run({ client, conversationId, output }, flags, message) {
    const content = await withAttachments(await readText(message, 'message'), flags.attach);
    const isQueued = flags.queue === true;
    const conversation = await client.conversation.get({ conversationId });
    const sent = await client.conversation.send({
      conversationId,
      content,
      mode: isQueued ? 'queue' : 'steer',
      ...definedOf({ messageId: flags.messageId }),
    });
    const { messageId, duplicate } = sent;
    if (flags.watch === true && !duplicate) {
      const target = isQueued ? nextTurn(conversation) : turnThatReads(conversation);
      await showTurn(client, output, { conversationId, ...target, json: flags.json === true });
      return;
    }
    return {
      json: { conversationId, messageId, duplicate },
      lines: [
        ...(duplicate
          ? ['It had been sent before; nothing was written.']
          : [sentWords(conversation, isQueued), ...decideLines(conversation)]),
        `  watch it: npx holdfast watch ${shortId(conversationId)}`,
      ],
    };
  },
});

export const commands = { send };

/** When what was sent is read; a turn that waits for a person takes no step before it has its decisions. */
function sentWords({ turn, waitingCalls }: Conversation, isQueued: boolean): string {
  if (turn === null || turn.state === 'ended') return 'Sent; a turn begins with it.';
  if (waitingCalls.length === 0) {
    return isQueued ? 'Sent; the next turn begins with it.' : 'Sent; the running turn sees it at its next step.';
  }
  const calls = waitingCalls.map(({ call, tool }) => `${call} (${safeLine(tool)})`).join(', ');
  const waits = `the running turn waits for you to decide on ${waitingCalls.length === 1 ? 'call' : 'calls'} ${calls}`;
  return isQueued
    ? `Sent; ${waits}, and the next turn begins with it.`
    : `Sent; ${waits}, and sees it at its next step, after that.`;
}

/** A steering message is read by the turn that runs, and begins one where none does. */
export function turnThatReads(before: Pick<Conversation, 'turn'>): TurnTarget {
  const { turn } = before;
  return turn !== null && turn.state !== 'ended' ? { turnId: turn.turnId } : nextTurn(before);
}

export function nextTurn({ turn }: Pick<Conversation, 'turn'>): TurnTarget {
  return { turnId: null, afterTurnId: turn?.turnId ?? null };
}
