import { localCommand } from '../command.ts';
import { withReader } from '../connect.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';

const agents = localCommand({
  description:
    'Lists the agents of holdfast.yaml and the built-in `default`, with model, compaction preset and tools, then those that only a running worker has, because code defines them.',
  examples: ['npx holdfast agents', 'npx holdfast agents --json | jq -r ".agents[].name"'],
  servers: true,
  async run({ output }, flags) {
    const { loadConfiguration } = await import('../../config/load-configuration.ts');
    const { agents: configured, file } = loadConfiguration({ directory: process.cwd(), environment: process.env });
    const listed = configured.map(({ policy, name, model, tools, workspace }) => ({
      name,
      model,
      preset: policy.name,
      tools,
      workspace,
    }));
    const { running, remarks } = await agentsOfWorkers(flags);
    const ofWorkers = running.filter((name) => !listed.some((agent) => agent.name === name));
    const rows = listed.map(({ name, model, preset, tools }) => [name, model, preset, tools.join(', ')].map(safeLine));
    const columns = [
      { title: 'agent' },
      { title: 'model' },
      { title: 'preset' },
      { title: 'tools', flexible: true as const },
    ];
    const others = ofWorkers.map((name) => [safeLine(name), '', '', 'of a running worker, defined in code']);
    return {
      json: { file, agents: listed, ofWorkers },
      lines: tableLines(columns, [...rows, ...others], output),
      remarks,
    };
  },
});

/** Without servers none, and a remark that says why: the command works before anything was started. */
async function agentsOfWorkers(
  flags: ConnectionFlags,
): Promise<{ readonly running: readonly string[]; readonly remarks: readonly string[] }> {
  try {
    return { running: await withReader(flags, (client) => client.models.listAgents()), remarks: [] };
  } catch (error) {
    const { describeError } = await import('../describe-error.ts');
    return { running: [], remarks: [`Agents of running workers are not known: ${describeError(error).message}`] };
  }
}

export const commands = { agents };
