import type { Command } from 'commander';
import { withClient } from '../connect.ts';
import { count } from '../count-option.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { safeText } from '../render/text/safe-text.ts';
import { UsageError } from '../usage-error.ts';

/** `holdfast pin`: rules that no compaction takes away. */
export function pinCommand(): Command {
  return withConnections(
    holdfastCommand('pin', {
      description:
        'Sends `/pin <rule>`: the rule stands word for word in every later request, whatever is compacted. It counts from the next step of a running turn; an idle conversation answers it. Without a rule, lists the pins with their numbers.',
      examples: [
        'npx holdfast pin last "Never change files under migrations/"',
        'npx holdfast pin last',
        'npx holdfast pin last --remove 1',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('[rule]', 'what must hold from now on')
    .option('--remove <number>', 'remove the pin of this number', count(1, 1_000_000))
    .action(pin);
}

interface PinFlags extends ConnectionFlags {
  readonly remove?: number;
}

async function pin(reference: string, rule: string | undefined, flags: PinFlags): Promise<void> {
  const output = openOutput();
  if (rule !== undefined && flags.remove !== undefined) {
    throw new UsageError('usage', 'A rule and --remove were given.', 'Give one of them.');
  }
  await withClient(flags, {}, async (client) => {
    const conversationId = await findConversation(client, reference);
    if (rule === undefined && flags.remove === undefined) {
      const pins = await client.conversation.pins({ conversationId });
      if (flags.json === true) output.json({ conversationId, pins });
      else if (pins.length === 0) output.line('Nothing is pinned.');
      else output.lines(pins.map((text, index) => `${index + 1}. ${safeText(text)}`));
      return;
    }
    const { messageId } =
      rule === undefined
        ? await client.conversation.unpin({ conversationId, pin: flags.remove ?? 0 })
        : await client.conversation.pin({ conversationId, rule });
    if (flags.json === true) output.json({ conversationId, messageId });
    else
      output.lines(['Sent; it counts from the next step on.', `  list: npx holdfast pin ${shortId(conversationId)}`]);
  });
}
