import type { Command } from 'commander';
import type { HoldfastClient, SentMessage } from '../client/types.ts';
import { collectFiles, withAttachments } from './attachments.ts';
import { withClient, withReader } from './connect.ts';
import { count } from './count-option.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { findConversation, shortId } from './find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from './holdfast-command.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { readText } from './read-text.ts';
import { isId } from '../store/ids.ts';
import { UsageError } from './usage-error.ts';
import { branchListLines } from './render/branch-list.ts';

interface ChangeFlags extends ConnectionFlags {
  readonly summary: boolean;
}

/** A summary of a long branch takes a model a while. */
const PATIENCE_MILLISECONDS = 600_000;
const BUSY =
  'On a conversation that is at work it is refused: stop the turn first, or wait for its end. Nothing is lost: every branch stays, and `holdfast recall` finds what was said on any of them.';

/** `holdfast branches`: lists the branches of a conversation. */
export function branchesCommand(): Command {
  return withConnections(
    holdfastCommand('branches', {
      summary: 'list the branches of a conversation',
      description: 'Lists every branch with where it was forked; the active one is marked.',
      examples: ['npx holdfast branches last'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .action(async (reference: string, flags: ConnectionFlags) => {
      const output = openOutput();
      await withReader(flags, async (client) => {
        const conversationId = await findConversation(client, reference);
        const branches = await client.listBranches(conversationId);
        if (flags.json === true) output.json({ conversationId, branches });
        else output.lines(branchListLines(branches, { columns: output.columns(), style: output.style }));
      });
    });
}

/** `holdfast fork`: goes on from an earlier entry. */
export function forkCommand(): Command {
  return withConnections(
    holdfastCommand('fork', {
      summary: 'go on from an earlier entry, on a branch of its own',
      description: `Begins a new branch after an entry and makes it the active one; inside a model's answer with tool calls, after its last result. What is left behind is summarized for the new branch. ${BUSY}`,
      examples: [
        'npx holdfast fork last --at 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab',
        'npx holdfast fork 4f1c22ab --at start --no-summary',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .requiredOption('--at <entry>', 'id of the entry to go on from, as `holdfast show` prints it, or `start`')
    .option('--no-summary', 'without a summary of what is left behind')
    .action(async (reference: string, flags: ChangeFlags & { readonly at: string }) => {
      const entryId = flags.at === 'start' ? null : entryIdOf(flags.at, 'or `start`, for the beginning');
      await change(reference, flags, (client, conversationId) =>
        client.fork({ conversationId, entryId, summarize: flags.summary }),
      );
    });
}

/** `holdfast switch`: goes on with another branch. */
export function switchCommand(): Command {
  return withConnections(
    holdfastCommand('switch', {
      summary: 'go on with another branch',
      description: `Makes another branch the active one. What is left behind, back to the entry that both have, is summarized there. ${BUSY}`,
      examples: ['npx holdfast switch last 0', 'npx holdfast switch 4f1c22ab 2 --no-summary'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('<branch>', 'its number, as `holdfast branches` prints it', count(0, 2_000_000_000))
    .option('--no-summary', 'without a summary of what is left behind')
    .action(async (reference: string, branch: number, flags: ChangeFlags) => {
      await change(reference, flags, (client, conversationId) =>
        client.switchBranch({ conversationId, branch, summarize: flags.summary }),
      );
    });
}

async function change(
  reference: string,
  flags: ConnectionFlags,
  send: (client: HoldfastClient, conversationId: string) => Promise<SentMessage>,
): Promise<void> {
  const output = openOutput();
  await withClient(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const { messageId } = await send(client, conversationId);
    const turn = await client.waitForOutcome({ conversationId, messageId, timeoutMilliseconds: PATIENCE_MILLISECONDS });
    const branches = await client.listBranches(conversationId);
    const active = branches.find((branch) => branch.active) ?? null;
    const done = turn.outcome === 'completed' && turn.reason === null;
    if (!done) process.exitCode = EXIT_CODES.turnNotCompleted.code;
    if (flags.json === true)
      output.json({ conversationId, messageId, outcome: turn.outcome, reason: turn.reason, active });
    else if (done)
      output.lines([
        `Branch ${active?.branch ?? 0} is active.`,
        `  go on with it: npx holdfast send ${shortId(conversationId)} "…"`,
      ]);
    else output.line(turn.explanation ?? 'The branch was not changed.');
  });
}

interface ResendFlags extends ConnectionFlags {
  readonly at?: string;
  readonly summary?: true;
}

interface EditFlags extends ResendFlags {
  readonly attach: readonly string[];
}

/** `holdfast regenerate`: asks for another answer. */
export function regenerateCommand(): Command {
  return withConnections(
    holdfastCommand('regenerate', {
      summary: 'answer a message again, on a branch of its own',
      description: `Forks before a message of yours and sends it again as it was. Without the fork it is not answered. ${BUSY}`,
      examples: [
        'npx holdfast regenerate last',
        'npx holdfast regenerate 4f1c22ab --at 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .option('--at <entry>', 'your message (default: the newest)')
    .option('--summary', 'with a summary of what is left behind')
    .action((reference: string, flags: ResendFlags) =>
      resend(reference, flags, (client, conversationId, summarize) =>
        client.regenerate({
          conversationId,
          summarize,
          ...(flags.at !== undefined && { entryId: entryIdOf(flags.at) }),
        }),
      ),
    );
}

/** `holdfast edit`: says an earlier message in other words. */
export function editCommand(): Command {
  return withConnections(
    holdfastCommand('edit', {
      summary: 'say an earlier message in other words, on a branch of its own',
      description: `Forks before a message of yours and sends the new text in its place; its pictures and files go with it, unless others are attached. Without the fork it is not answered. ${BUSY}`,
      examples: ['npx holdfast edit last 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab "Use Postgres 18 instead"'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('<entry>', 'id of your message, as `holdfast show` prints it')
    .argument('<text>', 'what it says now; `-` reads standard input')
    .option('--summary', 'with a summary of what is left behind')
    .option('--attach <files>', 'pictures, PDFs and texts instead of its own, separated by commas', collectFiles, [])
    .action(async (reference: string, entryId: string, text: string, flags: EditFlags) => {
      const content = await withAttachments(await readText(text, 'message'), flags.attach);
      await resend(reference, flags, (client, conversationId, summarize) =>
        client.edit({ conversationId, entryId: entryIdOf(entryId), content, summarize }),
      );
    });
}

function entryIdOf(given: string, otherwise?: string): string {
  if (isId(given)) return given;
  throw new UsageError(
    'usage',
    `"${given}" is no id of an entry.`,
    `\`npx holdfast show <conversation>\` prints the ids${otherwise === undefined ? '' : `; ${otherwise}`}.`,
  );
}

async function resend(
  reference: string,
  flags: ResendFlags,
  send: (client: HoldfastClient, conversationId: string, summarize: boolean) => Promise<SentMessage>,
): Promise<void> {
  const output = openOutput();
  await withClient(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const { messageId } = await send(client, conversationId, flags.summary === true);
    if (flags.json === true) output.json({ conversationId, messageId });
    else
      output.lines([
        'Sent, to be answered on a new branch.',
        `  follow it: npx holdfast watch ${shortId(conversationId)}`,
      ]);
  });
}
