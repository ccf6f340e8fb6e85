import type { WaitingCallOfTenant } from '../../client/types.ts';
import { readerCommand } from '../command.ts';
import { shortId } from '../find-conversation.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';
import { UsageError } from '../usage-error.ts';
import { option } from '../options.ts';

const approvals = readerCommand({
  description:
    'Lists what was allowed or denied with `--for agent`; --agent and --rule narrow the list. With --end, calls under the rule ask again. `holdfast list` shows which conversations wait, `holdfast show` their calls.',
  examples: ['npx holdfast approvals', 'npx holdfast approvals --end --agent default --rule write_file'],
  options: [
    option('--end', 'end the decision of --agent for --rule'),
    option('--agent <name>', 'only of this agent'),
    option('--rule <rule>', 'only this rule, as it is listed'),
  ],
  async run({ client, output }, { end, agent, rule }) {
    if (end === true) {
      if (agent === undefined || rule === undefined) {
        throw new UsageError('usage', '--end needs --agent and --rule.', 'See `npx holdfast approvals` for both.');
      }
      await client.decisions.endStanding({ agent, rule });
      const line = `Calls under ${safeLine(rule)} of agent ${safeLine(agent)} ask again.`;
      return { json: { agent, rule, ended: true }, lines: [line] };
    }
    const all = await client.decisions.listStanding();
    const standing = all.filter((each) => each.agent === (agent ?? each.agent) && each.rule === (rule ?? each.rule));
    const none = all.length === 0 ? 'No decision stands for an agent.' : 'No such decision stands for an agent.';
    const rows = standing.map((each) => [safeLine(each.agent), safeLine(each.rule), each.decision, each.decidedAt]);
    const columns = [
      { title: 'agent' },
      { title: 'rule', flexible: true as const },
      { title: 'decision' },
      { title: 'since' },
    ];
    const lines = rows.length === 0 ? [none] : tableLines(columns, rows, output);
    const { items: waiting } = await client.decisions.listWaiting({ limit: 2 });
    return { json: { approvals: standing }, lines: [...lines, ...waitingLines(waiting)] };
  },
});

export const commands = { approvals };

/** Calls that wait are looked for here too. */
function waitingLines(waiting: readonly Pick<WaitingCallOfTenant, 'conversationId'>[]): string[] {
  const [first, ...others] = waiting.map(({ conversationId }) => shortId(conversationId));
  if (first === undefined) return [];
  const where = others.every((other) => other === first) ? `npx holdfast show ${first}` : 'npx holdfast list';
  return [`Calls that wait for a decision: ${where}`];
}
