import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { Configuration } from '../../config/configuration.ts';
import { collectFiles, withAttachments } from './attachments.ts';
import { withClient } from '../connect.ts';
import { shortId } from '../find-conversation.ts';
import { showTurn } from '../follow/show-turn.ts';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { readText } from '../read-text.ts';

interface StartFlags extends ConnectionFlags {
  readonly agent?: string;
  readonly model?: string;
  readonly preset?: string;
  readonly workspace?: string;
  readonly user?: string;
  readonly startKey?: string;
  readonly attach: readonly string[];
  readonly detach?: true;
  readonly plain?: true;
  readonly check: boolean;
}

/** `holdfast start`: a new conversation, watched until its first turn ends. */
export function startCommand(): Command {
  return withConnections(
    holdfastCommand('start', {
      description:
        'Gives an agent a task in a new conversation and shows the turn until it ends: text as the model writes it, a line per tool call, a card per compaction. Ctrl-C leaves; the turn goes on. In a pipe, plain lines.',
      examples: [
        'npx holdfast start "Read the README and say what this project does"',
        'cat task.md | npx holdfast start - --workspace ../other-project --detach',
        'npx holdfast start "What is wrong with this page?" --attach page.png,console.txt',
        'npx holdfast start "Summarize docs/" --json | jq -r .answer',
      ],
    }),
  )
    .argument('<task>', 'what to do; `-` reads it from standard input')
    .option('--agent <name>', 'agent of holdfast.yaml (default: `default`)')
    .option('--model <provider/model>', "instead of the agent's, for the whole conversation")
    .option('--preset <name>', "compaction preset instead of the agent's")
    .option('--workspace <folder>', 'folder that the agent works in, instead of its own', existingFolder)
    .option('--user <name>', "whose memories it is shown and writes, instead of the agent's `memory.user`")
    .option('--start-key <key>', 'your own key, which makes starting twice harmless')
    .option('--attach <files>', 'pictures, PDFs and texts that go with it, separated by commas', collectFiles, [])
    .option('--detach', 'do not watch: print the conversation and return')
    .option('--plain', 'plain lines on a terminal too')
    .option(
      '--no-check',
      'accept an agent, model or preset that holdfast.yaml does not know, or a workspace that is not here; your own worker may',
    )
    .action(start);
}

async function start(argument: string, flags: StartFlags): Promise<void> {
  const task = await withAttachments(await readText(argument, 'task'), flags.attach);
  const output = openOutput({ plain: flags.plain === true });
  const needs = { agents: flags.check };
  await withClient(flags, needs, async (client, { configuration }) => {
    if (flags.check && configuration !== null) await checkChoice(configuration, flags);
    const { agent, model, preset, workspace, user, startKey } = flags;
    const { conversationId, messageId } = await client.start(task, {
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      ...(preset !== undefined && { preset }),
      ...(workspace !== undefined && { workspace }),
      ...(user !== undefined && { user }),
      ...(startKey !== undefined && { startKey }),
    });
    const conversation = shortId(conversationId);
    if (flags.detach !== true) {
      if (flags.json !== true) output.line(output.style.dim(`conversation ${conversationId}`));
      await showTurn(client, output, { conversationId, turnId: null, json: flags.json === true });
    } else if (flags.json === true) output.json({ conversationId, messageId });
    else output.lines([conversationId, `  watch it: npx holdfast watch ${conversation}`]);
  });
}

/** @throws ConfigurationError `agent_unknown`, `preset_unknown`, `model_invalid`, `provider_unknown`, `configuration_invalid` (workspace) */
async function checkChoice(configuration: Configuration, flags: StartFlags): Promise<void> {
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

function existingFolder(path: string): string {
  const folder = resolve(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new InvalidArgumentError(`${folder} is no folder.`);
}
