import type { Holdfast } from '../../client/holdfast.ts';
import { conversationCommand } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { shortId } from '../find-conversation.ts';
import { NO_DISPLAY } from '../follow/display.ts';
import { followTurn } from '../follow/follow-turn.ts';
import { option } from '../options.ts';

/** A stop is served within 2 s while a worker runs. A takeover takes about a second, and 9 s if a whole machine was lost. */
const PATIENCE_MILLISECONDS = 15_000;

const stop = conversationCommand({
  description:
    'Stops the running turn: aborts its model call and ends its tools. Finished results are kept, and the conversation goes on with the next message. Waits up to 15 s for the turn to end. Without a worker the stop is stored, and obeyed when one runs.',
  examples: ['npx holdfast stop last', 'npx holdfast stop 4f1c22ab --detach'],
  options: [option('--detach', 'return when the stop is stored')],
  async run({ client, conversationId }, { detach = false }) {
    const { turn, eventCount, waitingMessages } = await client.conversation.get({ conversationId });
    const wasRunning = turn !== null && turn.state !== 'ended';
    const { messageId } = await client.conversation.stop({ conversationId });
    const waits = wasRunning && !detach;
    const outcome = waits
      ? await outcomeOf(client, { conversationId, turnId: turn.turnId, afterEvent: eventCount })
      : null;
    if (waits && outcome === null) process.exitCode = EXIT_CODES.turnNotCompleted.code;
    const lines = wasRunning ? stopWords(conversationId, outcome, detach) : idleWords(waitingMessages, turn === null);
    return { json: { conversationId, messageId, wasRunning, outcome }, lines };
  },
});

export const commands = { stop };

function idleWords(waitingMessages: number, isFirst: boolean): string[] {
  if (waitingMessages === 0) return ['No turn is running, and no message waits: there was nothing to stop.'];
  const others = isFirst ? '' : ' What was queued behind a turn that has ended just now is answered.';
  return [`No turn is running yet; the one that was about to begin is stopped.${others}`];
}

function stopWords(conversationId: string, outcome: string | null, detach: boolean): string[] {
  if (outcome === 'stopped') return ['Stopped. What had finished is kept; the next message goes on.'];
  if (outcome !== null) return [`The turn had ended by itself: ${outcome.replaceAll('_', ' ')}.`];
  if (detach) return ['The stop is stored.'];
  return [
    'The stop is stored, but the turn has not ended yet. Does a worker run?',
    `  next: npx holdfast watch ${shortId(conversationId)}, or npx holdfast worker`,
  ];
}

async function outcomeOf(
  client: Holdfast,
  turn: { readonly conversationId: string; readonly turnId: string; readonly afterEvent: number },
): Promise<string | null> {
  const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
  const ended = await followTurn({ ...turn, client, display: NO_DISPLAY, signal, entries: false });
  return ended?.outcome ?? null;
}
