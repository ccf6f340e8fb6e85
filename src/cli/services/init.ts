import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { localCommand } from '../command.ts';
import { argument } from '../options.ts';

const CONFIGURATION = `# Agents, models and limits of this project. All options: docs/configuration.md of Holdfast.
# Check it with: npx holdfast config check

# Model of agents that name none: provider/model. Without a key the offline simulator answers.
# defaultModel: anthropic/claude-sonnet-5-5

# Tools and agents of your own: what these files export. \`holdfast dev\` serves them, and reads them again when they change.
modules: [own-tool.ts]

agents:
  default:
    instructions: You help with the files of this project.
    # Folder that file tools work in, relative to this file.
    workspace: .
    # A person decides on these calls: npx holdfast approve
    # approvals: { rules: [{ tool: write_file }] }
    # limits: { steps: 200, cost: 5 }
`;

const TOOL = `// A tool of your own, and an agent that has it. \`holdfast.yaml\` names this file under \`modules\`.
import { defineAgent, defineTool } from 'holdfast';
import { z } from 'zod';

export const convert = defineTool({
  name: 'convert_temperature',
  description: 'Converts degrees Celsius to degrees Fahrenheit.',
  input: z.object({ celsius: z.number().describe('degrees Celsius') }),
  // Reads nothing and changes nothing, so it may run again after a crash.
  effect: 'none',
  run: async ({ celsius }) => ({ content: \`\${celsius} °C are \${(celsius * 9) / 5 + 32} °F\` }),
});

export const agent = defineAgent({
  name: 'thermometer',
  instructions: 'You answer questions about temperatures.',
  tools: [convert],
});
`;

const TEST = `// Runs the tool through a whole turn, with a scripted model:  npx tsx --test own-tool.test.ts
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestHoldfast } from 'holdfast/testing';
import { agent, convert } from './own-tool.ts';

const running = await startTestHoldfast({ agents: [agent], tools: [convert] });
after(() => running.stop());

test('the agent converts a temperature', async () => {
  const task = await running.holdfast.start('Call convert_temperature with {"celsius": 21}', { agent: 'thermometer' });
  const { outcome, text } = await task.result();
  assert.equal(outcome, 'completed');
  assert.match(text, /69\\.8 °F/);
});
`;

const FILES = { 'holdfast.yaml': CONFIGURATION, 'own-tool.ts': TOOL, 'own-tool.test.ts': TEST } as const;

const init = localCommand({
  description:
    'Writes a commented holdfast.yaml, an agent with a tool of its own, a test of it, and a line in .gitignore. Existing files stay as they are.',
  examples: ['npx holdfast init', 'npx holdfast init ../other-project'],
  arguments: [argument('[folder]', 'where to (default: here)')],
  async run(_call, _flags, folder = '.') {
    const directory = resolve(folder);
    const written: string[] = [];
    const kept: string[] = [];
    for (const [name, text] of Object.entries(FILES)) {
      const path = join(directory, name);
      if (existsSync(path)) kept.push(name);
      else {
        // Modules are refused from a file that a group may write, as a umask of 002 would make it.
        await writeFile(path, text, { mode: 0o644 });
        written.push(name);
      }
    }
    if (await ignoreState(join(directory, '.gitignore'))) written.push('.gitignore');
    const steps: readonly (readonly [what: string, why: string])[] = [
      ...(await setUp(directory)),
      ['npx holdfast dev', 'leave it running; then, in another terminal:'],
      [`npx holdfast start 'Call convert_temperature with {"celsius": 21}' --agent thermometer`, ''],
      ['npx tsx --test own-tool.test.ts', 'the test of the tool, which needs no stack'],
    ];
    const isNamed = (await readFile(join(directory, 'holdfast.yaml'), 'utf8')).includes('own-tool.ts');
    const lines = [
      ...written.map((name) => `wrote ${name}`),
      ...kept.map((name) => `kept  ${name}`),
      '',
      'Next:',
      ...(isNamed ? [] : ['  In holdfast.yaml, name the file:  modules: [own-tool.ts]']),
      ...steps.map(([what, why]) => `  $ ${what.padEnd(40)} ${why}`.trimEnd()),
    ];
    return { json: { directory, written, kept }, lines };
  },
});

export const commands = { init };

/** What the written files need and the folder lacks: packages, and `import` in its files. */
async function setUp(directory: string): Promise<(readonly [what: string, why: string])[]> {
  // An install by name would replace one from a file.
  const missing = ['holdfast', 'zod', 'tsx'].filter((name) => !existsSync(join(directory, 'node_modules', name)));
  const isModule = /"type"\s*:\s*"module"/u.test(
    await readFile(join(directory, 'package.json'), 'utf8').catch(() => ''),
  );
  const commands = [
    ...(isModule ? [] : ['npm pkg set type=module']),
    ...(missing.length === 0 ? [] : [`npm install ${missing.join(' ')}`]),
  ];
  return commands.length === 0 ? [] : [[commands.join(' && '), 'what the files need']];
}

/** Keeps the local stack's data out of git. @returns whether it was not kept out before */
async function ignoreState(path: string): Promise<boolean> {
  const text = existsSync(path) ? await readFile(path, 'utf8') : '';
  if (/^\/?\.holdfast\/?$/mu.test(text)) return false;
  await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}.holdfast/\n`);
  return true;
}
