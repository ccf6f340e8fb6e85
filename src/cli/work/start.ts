import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { Configuration } from '../../config/configuration.ts';
import { isRecord, parseJson } from '../../models/protocols/json.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import { clientCommand } from '../command.ts';
import type { CommandFlags } from '../command.ts';
import type { ClientCall } from '../command.ts';
import { shortId } from '../find-conversation.ts';
import { showTurn } from '../follow/show-turn.ts';
import { readText, textArgument } from '../read-text.ts';
import { attachOption, withAttachments } from './attachments.ts';
import { option } from '../options.ts';

const OPTIONS = [
  option('--agent <name>', 'agent of holdfast.yaml (default: `default`)'),
  option('--model <provider/model>', "instead of the agent's, for the whole conversation"),
  option('--preset <name>', "compaction preset instead of the agent's"),
  option('--workspace <folder>', 'folder that the agent works in, instead of its own', existingFolder),
  option('--user <name>', "whose memories it is shown and writes, instead of the agent's `memory.user`"),
  option('--start-key <key>', 'your own key, which makes starting twice harmless'),
  option('--output <file>', 'JSON Schema of the answer, as a file', schemaInFile),
  attachOption('pictures, PDFs and texts that go with it'),
  option('--detach', 'do not watch: print the conversation and return'),
  option('--plain', 'plain lines on a terminal too'),
  option(
    '--no-check',
    'accept an agent, model or preset that holdfast.yaml does not know, or a workspace that is not here; your own worker may',
  ),
] as const;

type StartFlags = CommandFlags<typeof OPTIONS>;

const start = clientCommand({
  description:
    'Gives an agent a task in a new conversation and shows the turn until it ends: text as the model writes it, a line per tool call, a card per compaction. Ctrl-C leaves; the turn goes on. In a pipe it prints plain lines.',
  examples: [
    'npx holdfast start "Read the README and say what this project does"',
    'cat task.md | npx holdfast start - --workspace ../other-project --detach',
    'npx holdfast start "What is wrong with this page?" --attach page.png,console.txt',
    'npx holdfast start "Summarize docs/" --json | jq -r .answer',
    'npx holdfast start "Sort this bug report: …" --output report.schema.json --json',
  ],
  arguments: [textArgument('<task>', 'what to do; `-` reads it from standard input', 'task')],
  options: OPTIONS,
  needs: ({ check }) => ({ agents: check }),
  async run(call, flags, text) {
    const { client, output } = call;
    const task = await withAttachments(await readText(text, 'task'), flags.attach);
    if (flags.check) await checkChoice(call, flags);
    const { agent, model, preset, workspace, user, startKey, output: form, json = false } = flags;
    const { conversationId, messageId } = await client.start(
      task,
      definedOf({ agent, model, preset, workspace, user, startKey, output: form }),
    );
    if (flags.detach === true) {
      const hint = `  watch it: npx holdfast watch ${shortId(conversationId)}`;
      return { json: { conversationId, messageId }, lines: [conversationId, hint] };
    }
    if (!json) output.line(output.style.dim(`conversation ${shortId(conversationId)}`));
    await showTurn(client, output, { conversationId, turnId: null, json });
  },
});

export const commands = { start };

/** @throws ConfigurationError `agent_unknown`, `preset_unknown`, `model_invalid`, `provider_unknown`, `configuration_invalid` (workspace) */
async function checkChoice({ client, surroundings }: ClientCall, flags: StartFlags): Promise<void> {
  const { configuration } = surroundings;
  if (configuration === null || !(await isConfigured(client, configuration, flags.agent))) return;
  const [{ selectAgent, providerNamed }, { requireWorkspaces }, { ConfigurationError }, { parseModelName }] =
    await Promise.all([
      import('../../config/configuration.ts'),
      import('../../config/check/check-workspaces.ts'),
      import('../../config/errors.ts'),
      import('../../models/catalogue/model-name.ts'),
    ]);
  const { agent = 'default', model = null, preset = null } = flags;
  const chosen = selectAgent(configuration, agent, { model, preset });
  // Another one for the conversation was checked with the command line.
  if (flags.workspace === undefined) requireWorkspaces(configuration, agent);
  try {
    providerNamed(configuration, parseModelName(chosen.model).provider);
  } catch (error) {
    // Keys and addresses are the worker's matter: it may run elsewhere.
    if (!(error instanceof ConfigurationError) || error.code === 'provider_unknown') throw error;
  }
}

/** `false`: only a running worker has the agent, because a program defines it. @throws ConfigurationError `agent_unknown`: nobody has it */
async function isConfigured(client: Holdfast, configuration: Configuration, agent = 'default'): Promise<boolean> {
  const names = configuration.agents.map(({ name }) => name);
  if (names.includes(agent)) return true;
  const ofWorkers = await client.models.listAgents();
  if (ofWorkers.includes(agent)) return false;
  const { unknownAgent } = await import('../../config/configuration.ts');
  throw unknownAgent(agent, [...names, ...ofWorkers]);
}

/** @throws ConfigurationError `agent_unknown` */
export async function requireAgent({ client, surroundings }: ClientCall, agent: string): Promise<void> {
  const { configuration } = surroundings;
  if (configuration !== null) await isConfigured(client, configuration, agent);
}

function schemaInFile(path: string): Readonly<Record<string, unknown>> {
  // A pipe is read like a file.
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false)
    throw new InvalidArgumentError(`${path} is no file.`);
  const schema = parseJson(readFileSync(path, 'utf8'));
  if (isRecord(schema)) return schema;
  throw new InvalidArgumentError(`${path} holds no JSON Schema.`);
}

function existingFolder(path: string): string {
  const folder = resolve(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new InvalidArgumentError(`${folder} is no folder.`);
}
