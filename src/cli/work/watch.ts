import type { Command } from 'commander';
import type { Holdfast } from '../../client/holdfast.ts';
import type { Conversation } from '../../client/types.ts';
import { withReader } from '../connect.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { lastSequenceBefore } from '../follow/entry-source.ts';
import { showTurn } from '../follow/show-turn.ts';
import type { TurnTarget } from '../follow/turn-choice.ts';
import { streamUpdates } from '../follow/stream-updates.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { UsageError } from '../usage-error.ts';

interface WatchFlags extends ConnectionFlags {
  readonly plain?: true;
}

/** `holdfast watch`: the running turn, or the last one. */
export function watchCommand(): Command {
  return withConnections(
    holdfastCommand('watch', {
      description:
        'Shows the running turn from its beginning until it ends; the next one when messages wait; the last one when nothing runs. With --json every event and every piece of live text is a line of JSON.',
      examples: ['npx holdfast watch last', 'npx holdfast watch 4f1c22ab --json | grep compaction'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .option('--plain', 'plain lines on a terminal too')
    .action(watch);
}

async function watch(reference: string, flags: WatchFlags): Promise<void> {
  const output = openOutput({ plain: flags.plain === true });
  await withReader(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const conversation = await client.conversation.get({ conversationId });
    const target = await targetOf(client, conversation);
    if (flags.json === true) await streamUpdates(client, output, { conversationId, ...target });
    else await showTurn(client, output, { conversationId, ...target, json: false });
  });
}

interface Target extends TurnTarget {
  readonly afterEntry: number;
}

async function targetOf(client: Holdfast, conversation: Conversation): Promise<Target> {
  const { turn, waitingMessages, conversationId } = conversation;
  if (waitingMessages > 0 && (turn === null || turn.state === 'ended')) {
    return { turnId: null, afterTurnId: turn?.turnId ?? null, afterEntry: turn === null ? 0 : conversation.entryCount };
  }
  if (turn === null) {
    throw new UsageError(
      'usage',
      `No turn has begun in ${conversationId} and no message waits.`,
      `Send one: npx holdfast send ${shortId(conversationId)} "…"`,
    );
  }
  const afterEntry = await lastSequenceBefore(client, conversation, turn.startedAt);
  return { turnId: turn.turnId, afterEntry };
}
