import { definedOf } from '../../context/policy/defined-of.ts';
import { readerCommand } from '../command.ts';
import { tenantOption } from '../holdfast-command.ts';
import { conversationListLines } from '../render/lists/conversation-list.ts';
import { count, option, time } from '../options.ts';

const MOST = 500;
/** A task is as long as its user made it. */
const COLUMNS_IN_A_PIPE = 120;

const list = readerCommand({
  description: 'Lists conversations, newest first.',
  examples: [
    'npx holdfast list',
    'npx holdfast list --state working --since 12h',
    'npx holdfast list --limit 100 --json | jq -r ".conversations[].conversationId"',
  ],
  options: [
    tenantOption(),
    option(
      '--state <state>',
      'only those with a turn that runs or waits for you, with messages that wait for a turn, or with neither',
      ['working', 'queued', 'idle'],
    ),
    option('--agent <name>', 'only of this agent'),
    option('--since <time>', 'only those that were active since: a day or time, or 30m, 12h, 7d, 4w', time),
    option('--limit <number>', `conversations to list, at most ${MOST}`, count(1, MOST), 20),
  ],
  async run({ client, output }, { limit, state, agent, since }) {
    const found = await client.conversation.list({ limit, ...definedOf({ state, agent, since }) });
    const { items: conversations, hasMore } = found;
    const lines =
      conversations.length === 0
        ? [
            (state ?? agent ?? since)
              ? 'None of the conversations fits.'
              : 'No conversation yet. Start one: npx holdfast start "<task>"',
          ]
        : conversationListLines(conversations, {
            columns: output.columns ?? COLUMNS_IN_A_PIPE,
            style: output.style,
            now: Date.now(),
          });
    const remarks = hasMore ? [`There are more: --limit ${Math.min(MOST, limit * 5)}`] : [];
    return { json: { conversations, hasMore }, lines, remarks };
  },
});

export const commands = { list };
