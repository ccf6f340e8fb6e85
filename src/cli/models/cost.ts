import { definedOf } from '../../context/policy/defined-of.ts';
import { readerCommand } from '../command.ts';
import { findConversation } from '../find-conversation.ts';
import { tenantOption } from '../holdfast-command.ts';
import { costListLines } from '../render/lists/cost-list.ts';
import { UsageError } from '../usage-error.ts';
import { argument, option, time } from '../options.ts';

/** More than anybody reads. */
const MOST_ROWS = 1_000_000;

const cost = readerCommand({
  description:
    'Adds up tokens and dollars of all model calls: answers, summaries, and paid calls without a stored answer. `--by turn` and `--by step` split one conversation; a summary belongs to the step that it was made for. If a price is unknown, the sum is shown as "unknown", with the known part.',
  examples: [
    'npx holdfast cost',
    'npx holdfast cost --since 7d --by model',
    'npx holdfast cost --since 2026-11-01',
    'npx holdfast cost last --by step',
  ],
  arguments: [argument('[conversation]', 'only this one: an id, a part that only one has, or `last`')],
  options: [
    option('--by <group>', 'add up by', ['agent', 'model', 'conversation', 'turn', 'step'], 'agent'),
    tenantOption(),
    option('--since <time>', 'only calls since a day or time, or within 30m, 12h, 7d, 4w (default: all)', time),
  ],
  async run({ client, output: { columns, style } }, { by, since }, reference) {
    if (reference === undefined && (by === 'turn' || by === 'step')) {
      throw new UsageError(
        'usage',
        `--by ${by} takes apart one conversation.`,
        `Name it: npx holdfast cost last --by ${by}`,
      );
    }
    const conversationId = reference === undefined ? undefined : await findConversation(client, reference);
    const { items: costs } = await client.models.costs({
      by,
      ...definedOf({ since, conversationId }),
      limit: MOST_ROWS,
    });
    return {
      json: { by, since: since ?? null, costs },
      lines:
        costs.length === 0 ? ['No model call was paid in this time.'] : costListLines(costs, { by, columns, style }),
    };
  },
});

export const commands = { cost };
