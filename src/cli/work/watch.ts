import type { Conversation } from '../../client/types.ts';
import { conversationCommand } from '../command.ts';
import { shortId } from '../find-conversation.ts';
import { showTurn } from '../follow/show-turn.ts';
import { streamUpdates } from '../follow/stream-updates.ts';
import type { TurnTarget } from '../follow/turn-choice.ts';
import { UsageError } from '../usage-error.ts';
import { nextTurn } from './send.ts';
import { option } from '../options.ts';

const watch = conversationCommand({
  description:
    'Shows the running turn from its beginning until it ends. If none runs, it shows the next turn when messages wait, else the last one. With --json every event and every piece of live text is a line of JSON.',
  examples: ['npx holdfast watch last', 'npx holdfast watch 4f1c22ab --json | grep compaction'],
  options: [option('--plain', 'plain lines on a terminal too')],
  needs: { temporal: false },
  async run({ client, conversationId, output }, { json = false }) {
    const target = { conversationId, ...targetOf(await client.conversation.get({ conversationId })) };
    if (json) await streamUpdates(client, output, target);
    else await showTurn(client, output, { ...target, json });
  },
});

export const commands = { watch };

function targetOf(conversation: Conversation): TurnTarget {
  const { turn, waitingMessages, conversationId } = conversation;
  if (waitingMessages > 0 && (turn === null || turn.state === 'ended')) return nextTurn(conversation);
  if (turn !== null) return { turnId: turn.turnId };
  throw new UsageError(
    'usage',
    `No turn has begun in ${conversationId} and no message waits.`,
    `Send one: npx holdfast send ${shortId(conversationId)} "…"`,
  );
}
