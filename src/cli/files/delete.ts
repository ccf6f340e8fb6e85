import type { WorkflowRun } from '../../client/types.ts';
import { UNUSED_ADDRESS } from '../../local/stack-file.ts';
import type { Connections } from '../../local/stack-file.ts';
import { conversationCommand } from '../command.ts';
import { plural } from '../render/text/numbers.ts';
import { safeLine } from '../render/text/safe-text.ts';
import { shellWord } from '../shell-word.ts';
import { option } from '../options.ts';

/** Entries are never changed, also not those that quote another conversation. */
const NOT_REACHED =
  'Not reached: memories of it that were noted in other conversations, files that tools or the preset cowork wrote, backups.';

const deleteWhole = conversationCommand({
  description:
    'Deletes an idle conversation: entries, originals, summaries, timeline, search index, and memories that were learned in it. Only a file of `holdfast export` brings it back. Temporal keeps the histories of its turns, ids and counts, until their retention ends; the command prints how to remove them at once. Memories noted in other conversations, and files, stay. Without --yes it only says what it would delete.',
  examples: ['npx holdfast delete 4f1c22ab', 'npx holdfast delete 4f1c22ab --yes'],
  options: [option('--yes', 'delete it')],
  needs: { temporal: false },
  async run({ client, conversationId, surroundings: { connections } }, { yes = false }) {
    const { title, entryCount: entries } = await client.conversation.get({ conversationId });
    const named = `conversation ${conversationId} (${plural(entries, 'entry', 'entries')}): ${safeLine(title)}`;
    if (!yes) {
      const lines = [
        `Would delete ${named}`,
        '  next: repeat the command with --yes; only a file of `holdfast export` brings it back',
      ];
      return { json: { conversationId, deleted: false, entries }, lines };
    }
    const histories = await client.conversation.delete({ conversationId });
    const commands = historyCommands(histories, connections);
    return {
      json: { conversationId, deleted: true, entries, histories, commands },
      lines: [
        `Deleted ${named}`,
        `  ${NOT_REACHED}`,
        ...(commands.length === 0
          ? []
          : ['Temporal may keep histories of its turns, without text. To remove them now:']),
        ...commands.map((command) => `  ${command}`),
      ],
    };
  },
});

export const commands = { delete: deleteWhole };

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
