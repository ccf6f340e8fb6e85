import type { Command } from 'commander';
import type { WorkflowRun } from '../../client/types.ts';
import { UNUSED_ADDRESS } from '../../local/stack-file.ts';
import type { Connections } from '../../local/stack-file.ts';
import { withReader } from '../connect.ts';
import { findConversation } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { plural } from '../render/text/numbers.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { shellWord } from '../shell-word.ts';

/** Entries are never changed, also not those that quote another conversation. */
const NOT_REACHED =
  'Not reached: memories of it that were noted in other conversations, files that tools or the preset cowork wrote, backups.';

interface DeleteFlags extends ConnectionFlags {
  readonly yes?: true;
}

/** `holdfast delete`: removes a conversation for good. */
export function deleteCommand(): Command {
  return withConnections(
    holdfastCommand('delete', {
      description:
        'Deletes an idle conversation: entries, originals, summaries, timeline, search index, and memories that were learned in it. Nothing brings it back, except a file of `holdfast export`. Temporal keeps the histories of its turns, ids and counts, until their retention ends; the command that removes them at once is printed. What others copied from it stays: memories that were noted in other conversations, and files. Without --yes it only says what it would delete.',
      examples: ['npx holdfast delete 4f1c22ab', 'npx holdfast delete 4f1c22ab --yes'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .option('--yes', 'delete it')
    .action(deleteConversation);
}

async function deleteConversation(reference: string, flags: DeleteFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client, { connections }) => {
    const conversationId = await findConversation(client, reference);
    const { title, entryCount } = await client.conversation.get({ conversationId });
    const named = `conversation ${conversationId} (${plural(entryCount, 'entry', 'entries')}): ${safeLine(title)}`;
    if (flags.yes !== true) {
      if (flags.json === true) output.json({ conversationId, deleted: false, entries: entryCount });
      else output.lines([`Would delete ${named}`, '  next: repeat the command with --yes; nothing brings it back']);
      return;
    }
    const histories = await client.conversation.delete({ conversationId });
    const commands = historyCommands(histories, connections);
    if (flags.json === true) output.json({ conversationId, deleted: true, entries: entryCount, histories, commands });
    else {
      output.lines([`Deleted ${named}`, `  ${NOT_REACHED}`]);
      if (commands.length === 0) return;
      output.lines(whatTemporalKeeps(histories));
      output.lines(commands.map((command) => `  ${command}`));
    }
  });
}

/** Runs that are listed; `--json` has all. */
const LISTED_RUNS = 10;

function whatTemporalKeeps(histories: readonly WorkflowRun[]): string[] {
  const known = histories.filter(({ runId }) => runId !== null);
  if (known.length === 0) {
    return [
      'It had no turn. Temporal may know of its message all the same, without text: a workflow that finds nothing to do and ends. To remove it now:',
    ];
  }
  const listed = known
    .slice(0, LISTED_RUNS)
    .map(({ workflowId, runId }) => `  ${safeLine(workflowId)}  run ${safeLine(String(runId))}`);
  const more = known.length - listed.length;
  return [
    `Temporal keeps ${plural(known.length, 'history', 'histories')} of its turns, without text:`,
    ...listed,
    ...(more > 0 ? [`  and ${more} more (--json has all)`] : []),
    'To remove them now:',
  ];
}

/** One command for all runs of a workflow: also those that a turn went through by continuing as new. */
function historyCommands(
  histories: readonly WorkflowRun[],
  { temporalAddress, temporalNamespace }: Connections,
): string[] {
  const workflows = new Set(histories.map(({ workflowId }) => workflowId));
  const where = [
    // The command's own default is another server's than the local stack's.
    ...(temporalAddress === UNUSED_ADDRESS ? [] : [` --address ${shellWord(temporalAddress)}`]),
    ...(temporalNamespace === 'default' ? [] : [` --namespace ${shellWord(temporalNamespace)}`]),
  ].join('');
  return [...workflows].map((workflowId) => {
    const query = `WorkflowId = "${workflowId.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
    return safeLine(
      `temporal workflow delete${where} --query ${shellWord(query)} --reason "conversation deleted" --yes`,
    );
  });
}
