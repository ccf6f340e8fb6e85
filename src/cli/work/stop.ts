import type { Command } from 'commander';
import type { Holdfast } from '../../client/holdfast.ts';

import { withClient } from '../connect.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { NO_DISPLAY } from '../follow/display.ts';
import { followTurn } from '../follow/follow-turn.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';

interface StopFlags extends ConnectionFlags {
  readonly detach?: true;
}

/** A stop is served within 2 s while a worker runs; a takeover takes up to 8 s. */
const PATIENCE_MILLISECONDS = 15_000;

/** `holdfast stop`: ends the running turn. */
export function stopCommand(): Command {
  return withConnections(
    holdfastCommand('stop', {
      description:
        'Stops the running turn: its model call is aborted and its tools are ended, what finished is kept, and the conversation goes on with the next message. Waits up to 15 s for the turn to end. Without a worker the stop is stored and obeyed when one runs.',
      examples: ['npx holdfast stop last', 'npx holdfast stop 4f1c22ab --detach'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .option('--detach', 'return when the stop is stored')
    .action(stop);
}

async function stop(reference: string, flags: StopFlags): Promise<void> {
  const output = openOutput();
  await withClient(flags, {}, async (client) => {
    const conversationId = await findConversation(client, reference);
    const { turn, eventCount, waitingMessages } = await client.conversation.get({ conversationId });
    const isRunning = turn !== null && turn.state !== 'ended';
    const { messageId } = await client.conversation.stop({ conversationId });
    const waits = isRunning && flags.detach !== true;
    const outcome = waits
      ? await outcomeOf(client, { conversationId, turnId: turn.turnId, afterEvent: eventCount })
      : null;
    if (waits && outcome === null) process.exitCode = EXIT_CODES.turnNotCompleted.code;
    if (flags.json === true) output.json({ conversationId, messageId, wasRunning: isRunning, outcome });
    else if (!isRunning) {
      output.line(
        waitingMessages > 0
          ? `No turn is running yet; the one that was about to begin is stopped.${turn === null ? '' : ' What was queued behind a turn that has ended just now is answered.'}`
          : 'No turn is running, and no message waits: there was nothing to stop.',
      );
    } else if (outcome !== null) {
      output.line(
        outcome === 'stopped'
          ? 'Stopped. What had finished is kept; the next message goes on.'
          : `The turn had ended by itself: ${outcome.replaceAll('_', ' ')}.`,
      );
    } else if (flags.detach === true) output.line('The stop is stored.');
    else
      output.lines([
        'The stop is stored, but the turn has not ended yet. Does a worker run?',
        `  next: npx holdfast watch ${shortId(conversationId)}, or npx holdfast worker`,
      ]);
  });
}

async function outcomeOf(
  client: Holdfast,
  turn: { readonly conversationId: string; readonly turnId: string; readonly afterEvent: number },
): Promise<string | null> {
  const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
  const ended = await followTurn({ ...turn, client, display: NO_DISPLAY, signal, entries: false });
  return ended?.outcome ?? null;
}
