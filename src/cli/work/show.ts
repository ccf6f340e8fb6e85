import { definedOf } from '../../context/policy/defined-of.ts';
import { conversationCommand } from '../command.ts';
import { conversationHeadLines, entryListLines } from '../render/lists/entry-list.ts';
import { formatCount } from '../render/text/numbers.ts';
import { count, option } from '../options.ts';

const show = conversationCommand({
  description:
    'Shows state, figures and the newest entries of the active branch, each with the id that `holdfast entry` takes.',
  examples: ['npx holdfast show last', 'npx holdfast show 4f1c22ab --entries 200 --full | less'],
  options: [
    option('--entries <number>', 'newest entries to show', count(0, 1_000), 20),
    option('--full', 'whole texts instead of their first lines'),
  ],
  needs: { temporal: false },
  async run({ client, conversationId, output: { columns, style } }, { entries: limit, full = false }) {
    const conversation = await client.conversation.get({ conversationId });
    const { items: entries } = limit === 0 ? { items: [] } : await client.log.entries({ conversationId, limit });
    const earlier = await client.log.count({
      conversationId,
      ...definedOf({ beforeSequence: entries[0]?.sequence }),
    });
    const activeEntryCount = earlier + entries.length;
    const hidden = earlier > 0 && entries.length > 0;
    return {
      json: { conversation, activeEntryCount, entries },
      lines: [
        ...conversationHeadLines(conversation, { activeEntryCount, columns, style, now: Date.now() }),
        ...(hidden ? ['', style.dim(`… ${formatCount(earlier)} earlier (--entries)`)] : []),
        ...entryListLines(entries, { columns, style, full }),
      ],
    };
  },
});

export const commands = { show };
