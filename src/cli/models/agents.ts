import type { Command } from 'commander';
import { holdfastCommand, withJson } from '../holdfast-command.ts';
import type { JsonOption } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';

/** `holdfast agents`: agents of holdfast.yaml. */
export function agentsCommand(): Command {
  return withJson(
    holdfastCommand('agents', {
      description:
        'Lists the agents of holdfast.yaml and the one that is always there, `default`, with model, compaction preset and tools. Agents that a program defines are known to its own workers.',
      examples: ['npx holdfast agents', 'npx holdfast agents --json | jq -r ".agents[].name"'],
    }),
  ).action(agents);
}

async function agents(flags: JsonOption): Promise<void> {
  const output = openOutput();
  const { loadConfiguration } = await import('../../config/load-configuration.ts');
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  const listed = configuration.agents.map(({ name, model, policy, tools, workspace }) => ({
    name,
    model,
    preset: policy.name,
    tools,
    workspace,
  }));
  if (flags.json === true) return output.json({ file: configuration.file, agents: listed });
  const rows = listed.map(({ name, model, preset, tools }) => [
    safeLine(name),
    safeLine(model),
    safeLine(preset),
    safeLine(tools.join(', ')),
  ]);
  const columns = [
    { title: 'agent' },
    { title: 'model' },
    { title: 'preset' },
    { title: 'tools', flexible: true as const },
  ];
  output.lines(tableLines(columns, rows, { columns: output.columns(), style: output.style }));
}
