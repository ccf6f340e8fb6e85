import { definedOf } from '../../context/policy/defined-of.ts';
import type { SentMessage } from '../../client/types.ts';
import { conversationCommand } from '../command.ts';
import type { ConversationCall, Printed } from '../command.ts';
import { ENTRY_WORDS, findEntry, readEntryArgument } from '../context/find-entry.ts';
import type { EntryArgument } from '../context/find-entry.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { shortId } from '../find-conversation.ts';
import { openDisplay, showWhile } from '../follow/display.ts';
import { followBranchChange } from '../follow/follow-branch-change.ts';
import type { BranchChangeEnd } from '../follow/follow-branch-change.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { LEFT_UNANSWERED } from '../interruption.ts';
import { readText, textArgument } from '../read-text.ts';
import { branchListLines } from '../render/lists/branch-list.ts';
import { attachOption, withAttachments } from './attachments.ts';
import { argument, count, option, requiredOption } from '../options.ts';

const BUSY =
  'Refused while a turn runs: stop it first, or wait for its end. Every branch stays, and `holdfast recall` finds entries of all.';

const WITHOUT_SUMMARY = option('--no-summary', 'without a summary of the branch that you leave');
const WITH_SUMMARY = option('--summary', 'with a summary of the branch that you leave');

const list = conversationCommand({
  description: 'Lists every branch and where it was forked. The active one is marked.',
  examples: ['npx holdfast branch list last'],
  needs: { temporal: false },
  async run({ client, conversationId, output }) {
    const branches = await client.branches.list({ conversationId });
    return { json: { conversationId, branches }, lines: branchListLines(branches, output) };
  },
});

const fork = conversationCommand({
  description: `Begins a new branch after an entry and makes it the active one. Inside an answer with tool calls it begins after the last result. The new branch gets a summary of the old one. ${BUSY}`,
  examples: ['npx holdfast branch fork last --at 12', 'npx holdfast branch fork 4f1c22ab --at start --no-summary'],
  options: [
    requiredOption('--at <entry>', `entry to go on from: ${ENTRY_WORDS}, or \`start\``, (text: string) =>
      text === 'start' ? text : readEntryArgument(text, 'or `start`, for the beginning'),
    ),
    WITHOUT_SUMMARY,
  ],
  async run(call, { at, summary: summarize, ...flags }) {
    const { client, conversationId } = call;
    const entryId = at === 'start' ? null : await findEntry(client, conversationId, at);
    return change(call, flags, () => client.branches.fork({ conversationId, entryId, summarize }));
  },
});

const switchTo = conversationCommand({
  description: `Makes another branch the active one. It gets a summary of what the branch that you leave has alone. ${BUSY}`,
  examples: ['npx holdfast branch switch last 0', 'npx holdfast branch switch 4f1c22ab 2 --no-summary'],
  arguments: [argument('<branch>', 'its number, as `holdfast branch list` prints it', count(0, 2_000_000_000))],
  options: [WITHOUT_SUMMARY],
  run: (call, { summary: summarize, ...flags }, branch) =>
    change(call, flags, () => call.client.branches.switch({ conversationId: call.conversationId, branch, summarize })),
});

const regenerate = conversationCommand({
  description: `Forks before a message of yours and sends it again. Returns when the fork is made; the answer follows. If the fork is refused, the message is not sent. ${BUSY}`,
  examples: ['npx holdfast branch regenerate last', 'npx holdfast branch regenerate 4f1c22ab --at 12'],
  options: [option('--at <entry>', `your message: ${ENTRY_WORDS} (default: the newest)`, entryArgument), WITH_SUMMARY],
  async run(call, { at, summary: summarize = false, ...flags }) {
    const { client, conversationId } = call;
    const entryId = at === undefined ? undefined : await findEntry(client, conversationId, at);
    return resend(call, flags, () =>
      client.branches.regenerate({ conversationId, summarize, ...definedOf({ entryId }) }),
    );
  },
});

const edit = conversationCommand({
  description: `Forks before a message of yours and sends the new text instead, with its pictures and files unless you attach others. Returns when the fork is made; the answer follows. If the fork is refused, the message is not sent. ${BUSY}`,
  examples: ['npx holdfast branch edit last 12 "Use Postgres 18 instead"'],
  arguments: [
    argument('<entry>', `your message: ${ENTRY_WORDS}`, entryArgument),
    textArgument('<text>', 'what it says now; `-` reads standard input', 'message'),
  ],
  options: [WITH_SUMMARY, attachOption('pictures, PDFs and texts instead of its own')],
  async run(call, { attach, summary: summarize = false, ...flags }, at, text) {
    const { client, conversationId } = call;
    const content = await withAttachments(await readText(text, 'message'), attach);
    const entryId = await findEntry(client, conversationId, at);
    return resend(call, flags, () => client.branches.edit({ conversationId, entryId, content, summarize }));
  },
});

export const commands = { list, fork, switch: switchTo, regenerate, edit };

function entryArgument(text: string): EntryArgument {
  return readEntryArgument(text);
}

type Request = () => Promise<SentMessage>;

async function change(call: ConversationCall, flags: ConnectionFlags, request: Request): Promise<Printed> {
  const { client, conversationId } = call;
  const end = await requestAndFollow(call, flags, { request, untilChanged: false });
  if (end?.kind !== 'ended') return left(conversationId, end);
  const { messageId, turn } = end;
  const active = await client.branches.active({ conversationId });
  const isDone = turn.outcome === 'completed' && turn.reason === null;
  if (!isDone) process.exitCode = EXIT_CODES.turnNotCompleted.code;
  return {
    json: { conversationId, messageId, outcome: turn.outcome, reason: turn.reason, active },
    lines: isDone
      ? [`Branch ${active.branch} is active.`, `  go on with it: npx holdfast send ${shortId(conversationId)} "…"`]
      : [turn.explanation ?? 'The branch was not changed.'],
  };
}

async function resend(call: ConversationCall, flags: ConnectionFlags, request: Request): Promise<Printed> {
  const { client, conversationId } = call;
  const end = await requestAndFollow(call, flags, { request, untilChanged: true });
  if (end === null || end.kind === 'left') return left(conversationId, end);
  // Its turn ended, and the branch was not changed: it was taken back with the fork.
  const refused = end.kind === 'ended' ? end.turn : null;
  if (refused !== null) process.exitCode = EXIT_CODES.turnNotCompleted.code;
  const active = await client.branches.active({ conversationId });
  const { outcome = null, reason = null, explanation = null } = refused ?? {};
  return {
    json: { conversationId, messageId: end.messageId, forked: refused === null, outcome, reason, active },
    lines:
      refused === null
        ? [
            `Sent, to be answered on branch ${active.branch}.`,
            `  follow it: npx holdfast watch ${shortId(conversationId)}`,
          ]
        : [
            'The message is not answered: its fork was not made.',
            ...(explanation === null ? [] : [`  ${explanation}`]),
          ],
  };
}

async function requestAndFollow(
  { client, conversationId, output }: ConversationCall,
  flags: ConnectionFlags,
  how: { readonly request: Request; readonly untilChanged: boolean },
): Promise<BranchChangeEnd | null> {
  // It prints nothing but remarks: beside JSON as lines, so that nobody waits without knowing for what.
  const shown = flags.json === true ? { ...output, repaints: false } : output;
  return showWhile(
    openDisplay(shown, () => 'Ctrl-C leaves; the request stands.'),
    (display, signal) => followBranchChange({ ...how, client, conversationId, display, signal }),
  );
}

/** @param end `null` when a server was silent: nobody knows whether the request was stored */
function left(conversationId: string, end: BranchChangeEnd | null): Printed {
  const short = shortId(conversationId);
  return {
    json: { conversationId, messageId: end?.messageId ?? null, outcome: null, interrupted: true },
    lines: [
      end === null ? LEFT_UNANSWERED : 'You left; the request stands.',
      `  see what becomes of it: npx holdfast branch list ${short}, npx holdfast watch ${short}`,
    ],
  };
}
