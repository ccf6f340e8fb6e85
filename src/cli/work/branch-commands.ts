import type { Command } from 'commander';
import type { Holdfast } from '../../client/holdfast.ts';
import type { SentMessage } from '../../client/types.ts';
import { collectFiles, withAttachments } from './attachments.ts';
import { withClient, withReader } from '../connect.ts';
import { count } from '../count-option.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { ENTRY_WORDS, findEntry, readEntryArgument } from '../context/find-entry.ts';
import { openDisplay } from '../follow/display.ts';
import { followBranchChange } from '../follow/follow-branch-change.ts';
import type { BranchChangeEnd } from '../follow/follow-branch-change.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { interruptible, LEFT_UNANSWERED } from '../interruption.ts';
import { openOutput } from '../output.ts';
import type { Output } from '../output.ts';
import { readText } from '../read-text.ts';
import { branchListLines } from '../render/lists/branch-list.ts';

interface ChangeFlags extends ConnectionFlags {
  readonly summary: boolean;
}

const BUSY =
  'On a conversation that is at work it is refused: stop the turn first, or wait for its end. Nothing is lost: every branch stays, and `holdfast recall` finds what was said on any of them.';

/** `holdfast branch list`: lists the branches of a conversation. */
export function branchesCommand(): Command {
  return withConnections(
    holdfastCommand('list', {
      description: 'Lists every branch with where it was forked; the active one is marked.',
      examples: ['npx holdfast branch list last'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .action(async (reference: string, flags: ConnectionFlags) => {
      const output = openOutput();
      await withReader(flags, async (client) => {
        const conversationId = await findConversation(client, reference);
        const branches = await client.branches.list({ conversationId });
        if (flags.json === true) output.json({ conversationId, branches });
        else output.lines(branchListLines(branches, { columns: output.columns(), style: output.style }));
      });
    });
}

/** `holdfast branch fork`: goes on from an earlier entry. */
export function forkCommand(): Command {
  return withConnections(
    holdfastCommand('fork', {
      description: `Begins a new branch after an entry and makes it the active one; inside a model's answer with tool calls, after its last result. What is left behind is summarized for the new branch. ${BUSY}`,
      examples: ['npx holdfast branch fork last --at 12', 'npx holdfast branch fork 4f1c22ab --at start --no-summary'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .requiredOption('--at <entry>', `entry to go on from: ${ENTRY_WORDS}, or \`start\``)
    .option('--no-summary', 'without a summary of what is left behind')
    .action(async (reference: string, flags: ChangeFlags & { readonly at: string }) => {
      const at = flags.at === 'start' ? null : readEntryArgument(flags.at, 'or `start`, for the beginning');
      await change(reference, flags, async (client, conversationId) => {
        const entryId = at === null ? null : await findEntry(client, conversationId, at);
        return () => client.branches.fork({ conversationId, entryId, summarize: flags.summary });
      });
    });
}

/** `holdfast branch switch`: goes on with another branch. */
export function switchCommand(): Command {
  return withConnections(
    holdfastCommand('switch', {
      description: `Makes another branch the active one. What is left behind, back to the entry that both have, is summarized there. ${BUSY}`,
      examples: ['npx holdfast branch switch last 0', 'npx holdfast branch switch 4f1c22ab 2 --no-summary'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('<branch>', 'its number, as `holdfast branch list` prints it', count(0, 2_000_000_000))
    .option('--no-summary', 'without a summary of what is left behind')
    .action(async (reference: string, branch: number, flags: ChangeFlags) => {
      await change(
        reference,
        flags,
        async (client, conversationId) => () =>
          client.branches.switch({ conversationId, branch, summarize: flags.summary }),
      );
    });
}

/** Finds what the command names; what it returns sends the command. */
type Prepare = (client: Holdfast, conversationId: string) => Promise<() => Promise<SentMessage>>;

async function change(reference: string, flags: ConnectionFlags, prepare: Prepare): Promise<void> {
  const output = openOutput();
  await withClient(flags, {}, async (client) => {
    const conversationId = await findConversation(client, reference);
    const request = await prepare(client, conversationId);
    const end = await requestAndFollow(client, output, { conversationId, request, untilChanged: false, flags });
    if (end?.kind !== 'ended') return leave(output, conversationId, end, flags);
    const { messageId, turn } = end;
    const active = await client.branches.active({ conversationId });
    const done = turn.outcome === 'completed' && turn.reason === null;
    if (!done) process.exitCode = EXIT_CODES.turnNotCompleted.code;
    if (flags.json === true)
      output.json({ conversationId, messageId, outcome: turn.outcome, reason: turn.reason, active });
    else if (done)
      output.lines([
        `Branch ${active.branch} is active.`,
        `  go on with it: npx holdfast send ${shortId(conversationId)} "…"`,
      ]);
    else output.line(turn.explanation ?? 'The branch was not changed.');
  });
}

async function requestAndFollow(
  client: Holdfast,
  output: Output,
  options: Pick<Parameters<typeof followBranchChange>[0], 'conversationId' | 'request' | 'untilChanged'> & {
    readonly flags: ConnectionFlags;
  },
): Promise<BranchChangeEnd | null> {
  const { flags, ...change } = options;
  // It prints nothing but remarks: beside JSON as lines, so that nobody waits without knowing for what.
  const display = openDisplay(
    flags.json === true ? { ...output, repaints: false } : output,
    () => 'Ctrl-C leaves; the request stands.',
  );
  const { result } = await interruptible(async (signal) => {
    try {
      return await followBranchChange({ ...change, client, display, signal });
    } finally {
      display.close();
    }
  });
  return result;
}

/** @param end `null` when a server was silent: nobody knows whether the request was stored */
function leave(output: Output, conversationId: string, end: BranchChangeEnd | null, flags: ConnectionFlags): void {
  if (flags.json === true)
    output.json({ conversationId, messageId: end?.messageId ?? null, outcome: null, interrupted: true });
  else
    output.lines([
      end === null ? LEFT_UNANSWERED : 'You left; the request stands.',
      `  see what becomes of it: npx holdfast branch list ${shortId(conversationId)}, npx holdfast watch ${shortId(conversationId)}`,
    ]);
}

interface ResendFlags extends ConnectionFlags {
  readonly at?: string;
  readonly summary?: true;
}

interface EditFlags extends ResendFlags {
  readonly attach: readonly string[];
}

/** `holdfast branch regenerate`: asks for another answer. */
export function regenerateCommand(): Command {
  return withConnections(
    holdfastCommand('regenerate', {
      description: `Forks before a message of yours and sends it again as it was; returns when the fork is made, the answer is on its way then. Without the fork it is not answered. ${BUSY}`,
      examples: ['npx holdfast branch regenerate last', 'npx holdfast branch regenerate 4f1c22ab --at 12'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .option('--at <entry>', `your message: ${ENTRY_WORDS} (default: the newest)`)
    .option('--summary', 'with a summary of what is left behind')
    .action(async (reference: string, flags: ResendFlags) => {
      const at = flags.at === undefined ? undefined : readEntryArgument(flags.at);
      await resend(reference, flags, async (client, conversationId) => {
        const entryId = at === undefined ? undefined : await findEntry(client, conversationId, at);
        const summarize = flags.summary === true;
        return () =>
          client.branches.regenerate({ conversationId, summarize, ...(entryId !== undefined && { entryId }) });
      });
    });
}

/** `holdfast branch edit`: says an earlier message in other words. */
export function editCommand(): Command {
  return withConnections(
    holdfastCommand('edit', {
      description: `Forks before a message of yours and sends the new text in its place; its pictures and files go with it, unless others are attached. Returns when the fork is made, the answer is on its way then. Without the fork it is not answered. ${BUSY}`,
      examples: ['npx holdfast branch edit last 12 "Use Postgres 18 instead"'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('<entry>', `your message: ${ENTRY_WORDS}`)
    .argument('<text>', 'what it says now; `-` reads standard input')
    .option('--summary', 'with a summary of what is left behind')
    .option('--attach <files>', 'pictures, PDFs and texts instead of its own, separated by commas', collectFiles, [])
    .action(async (reference: string, entry: string, text: string, flags: EditFlags) => {
      const at = readEntryArgument(entry);
      const content = await withAttachments(await readText(text, 'message'), flags.attach);
      await resend(reference, flags, async (client, conversationId) => {
        const entryId = await findEntry(client, conversationId, at);
        return () => client.branches.edit({ conversationId, entryId, content, summarize: flags.summary === true });
      });
    });
}

async function resend(reference: string, flags: ResendFlags, prepare: Prepare): Promise<void> {
  const output = openOutput();
  await withClient(flags, {}, async (client) => {
    const conversationId = await findConversation(client, reference);
    const request = await prepare(client, conversationId);
    const end = await requestAndFollow(client, output, { conversationId, request, untilChanged: true, flags });
    if (end === null || end.kind === 'left') return leave(output, conversationId, end, flags);
    const { messageId } = end;
    // Its turn ended, and the branch was not changed: it was taken back with the fork.
    const refused = end.kind === 'ended' ? end.turn : null;
    if (refused !== null) process.exitCode = EXIT_CODES.turnNotCompleted.code;
    const active = await client.branches.active({ conversationId });
    if (flags.json === true) {
      const { outcome = null, reason = null } = refused ?? {};
      output.json({ conversationId, messageId, forked: refused === null, outcome, reason, active });
    } else if (refused === null)
      output.lines([
        `Sent, to be answered on branch ${active.branch}.`,
        `  follow it: npx holdfast watch ${shortId(conversationId)}`,
      ]);
    else
      output.lines([
        'The message is not answered: its fork was not made.',
        ...(refused.explanation === null ? [] : [`  ${refused.explanation}`]),
      ]);
  });
}
