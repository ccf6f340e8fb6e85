import type { Command } from 'commander';
import { withReader } from '../connect.ts';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';
import type { Column } from '../render/text/table.ts';
import { UsageError } from '../usage-error.ts';

interface ApprovalsFlags extends ConnectionFlags {
  readonly end?: true;
  readonly agent?: string;
  readonly rule?: string;
}

/** `holdfast approvals`: decisions that stand for all turns of an agent. */
export function approvalsCommand(): Command {
  return withConnections(
    holdfastCommand('approvals', {
      description:
        'Lists what was allowed or denied with `--for agent`, with --agent or --rule only theirs. With --end, calls under the rule ask again. What waits now is in `holdfast list` and `holdfast show`.',
      examples: ['npx holdfast approvals', 'npx holdfast approvals --end --agent default --rule write_file'],
    }),
  )
    .option('--end', 'end the decision of --agent for --rule')
    .option('--agent <name>', 'only of this agent')
    .option('--rule <rule>', 'only this rule, as it is listed')
    .action(approvals);
}

async function approvals(flags: ApprovalsFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    if (flags.end === true) {
      const { agent, rule } = flags;
      if (agent === undefined || rule === undefined) {
        throw new UsageError('usage', '--end needs --agent and --rule.', 'See `npx holdfast approvals` for both.');
      }
      await client.decisions.endStanding({ agent, rule });
      if (flags.json === true) output.json({ agent, rule, ended: true });
      else output.line(`Calls under ${safeLine(rule)} of agent ${safeLine(agent)} ask again.`);
      return;
    }
    const all = await client.decisions.listStanding();
    const standing = all.filter(({ agent, rule }) => agent === (flags.agent ?? agent) && rule === (flags.rule ?? rule));
    if (flags.json === true) output.json({ approvals: standing });
    else if (standing.length === 0) {
      output.line(all.length === 0 ? 'No decision stands for an agent.' : 'No such decision stands for an agent.');
    } else {
      const rows = standing.map(({ agent, rule, decision, decidedAt }) => [
        safeLine(agent),
        safeLine(rule),
        decision,
        decidedAt,
      ]);
      const columns: readonly Column[] = [
        { title: 'agent' },
        { title: 'rule', flexible: true },
        { title: 'decision' },
        { title: 'since' },
      ];
      output.lines(tableLines(columns, rows, { columns: output.columns(), style: output.style }));
    }
  });
}
