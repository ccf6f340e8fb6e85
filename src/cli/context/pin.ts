import { conversationCommand } from '../command.ts';
import { shortId } from '../find-conversation.ts';
import { safeText } from '../render/text/safe-text.ts';
import { UsageError } from '../usage-error.ts';
import { argument, count, option } from '../options.ts';

const pin = conversationCommand({
  description:
    'Sends `/pin <rule>`: the rule is in every later request, word for word. A running turn reads it at its next step; an idle conversation answers it. Without a rule, lists the pins with their numbers.',
  examples: [
    'npx holdfast pin last "Never change files under migrations/"',
    'npx holdfast pin last',
    'npx holdfast pin last --remove 1',
  ],
  arguments: [argument('[rule]', 'what must hold from now on')],
  options: [option('--remove <number>', 'remove the pin of this number', count(1, 1_000_000))],
  async run({ client: { conversation }, conversationId }, { remove }, rule) {
    if (rule !== undefined && remove !== undefined) {
      throw new UsageError('usage', 'A rule and --remove were given.', 'Give one of them.');
    }
    if (rule === undefined && remove === undefined) {
      const pins = await conversation.pins({ conversationId });
      const lines = pins.map((text, index) => `${index + 1}. ${safeText(text)}`);
      return { json: { conversationId, pins }, lines: lines.length === 0 ? ['Nothing is pinned.'] : lines };
    }
    const { messageId } =
      rule === undefined
        ? await conversation.unpin({ conversationId, pin: remove ?? 0 })
        : await conversation.pin({ conversationId, rule });
    return {
      json: { conversationId, messageId },
      lines: [
        'Sent; it counts from the next step on.',
        ...(remove === undefined ? [] : ['Later pins then move up by one.']),
        `  list: npx holdfast pin ${shortId(conversationId)}`,
      ],
    };
  },
});

export const commands = { pin };
