import { localCommand } from '../command.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { tableLines } from '../render/text/table.ts';

const agents = localCommand({
  description:
    'Lists the agents of holdfast.yaml and the built-in `default`, with model, compaction preset and tools. It does not know agents that a program defines.',
  examples: ['npx holdfast agents', 'npx holdfast agents --json | jq -r ".agents[].name"'],
  async run({ output }) {
    const { loadConfiguration } = await import('../../config/load-configuration.ts');
    const { agents: configured, file } = loadConfiguration({ directory: process.cwd(), environment: process.env });
    const listed = configured.map(({ policy, name, model, tools, workspace }) => ({
      name,
      model,
      preset: policy.name,
      tools,
      workspace,
    }));
    const rows = listed.map(({ name, model, preset, tools }) => [name, model, preset, tools.join(', ')].map(safeLine));
    const columns = [
      { title: 'agent' },
      { title: 'model' },
      { title: 'preset' },
      { title: 'tools', flexible: true as const },
    ];
    return { json: { file, agents: listed }, lines: tableLines(columns, rows, output) };
  },
});

export const commands = { agents };
