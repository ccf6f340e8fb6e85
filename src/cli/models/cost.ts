import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { CostGroup } from '../../store/conversations/costs.ts';
import { withReader } from '../connect.ts';
import { findConversation } from '../find-conversation.ts';
import { holdfastCommand, tenantOption, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { costListLines } from '../render/lists/cost-list.ts';
import { UsageError } from '../usage-error.ts';

interface CostFlags extends ConnectionFlags {
  readonly by: CostGroup;
  readonly since?: Date;
}

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `holdfast cost`: what model calls cost. */
export function costCommand(): Command {
  return withConnections(
    holdfastCommand('cost', {
      description:
        'Adds up tokens and dollars of all model calls: answers, summaries, and calls that were paid although their answer was not kept. `--by turn` and `--by step` take apart one conversation; a summary belongs to the step that it was made for. A sum that lacks the price of a call is shown as "unknown", with what is known.',
      examples: [
        'npx holdfast cost',
        'npx holdfast cost --since 7d --by model',
        'npx holdfast cost --since 2026-11-01',
        'npx holdfast cost last --by step',
      ],
    }),
  )
    .argument('[conversation]', 'only this one: an id, a part that only one has, or `last`')
    .addOption(
      new Option('--by <group>', 'add up by')
        .choices(['agent', 'model', 'conversation', 'turn', 'step'])
        .default('agent'),
    )
    .addOption(tenantOption())
    .option('--since <time>', 'only calls since a day or time, or within 30m, 12h, 7d, 4w (default: all)', since)
    .action(cost);
}

/** @throws InvalidArgumentError naming what is accepted */
function since(text: string): Date {
  const [, amount, unit] = /^(\d{1,5})([mhdw])$/.exec(text.trim()) ?? [];
  if (amount !== undefined) return new Date(Date.now() - Number(amount) * (UNIT_MILLISECONDS[unit ?? ''] ?? 0));
  const date = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError(
      'It takes a day like 2026-11-01, a time like 2026-11-01T08:00, or 30m, 12h, 7d, 4w.',
    );
  }
  return date;
}

async function cost(reference: string | undefined, flags: CostFlags): Promise<void> {
  if (reference === undefined && (flags.by === 'turn' || flags.by === 'step')) {
    throw new UsageError(
      'usage',
      `--by ${flags.by} takes apart one conversation.`,
      `Name it: npx holdfast cost last --by ${flags.by}`,
    );
  }
  const output = openOutput();
  await withReader(flags, async (client) => {
    const conversationId = reference === undefined ? undefined : await findConversation(client, reference);
    const costs = await client.models.costs({
      by: flags.by,
      ...definedOf({ since: flags.since?.toISOString(), conversationId }),
    });
    if (flags.json === true) output.json({ by: flags.by, since: flags.since?.toISOString() ?? null, costs });
    else if (costs.length === 0) output.line('No model call was paid in this time.');
    else output.lines(costListLines(costs, { by: flags.by, columns: output.columns(), style: output.style }));
  });
}
