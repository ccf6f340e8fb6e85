import { NOTHING_TO_COMPACT } from '../../turn/explain-outcome.ts';
import type { Command } from 'commander';
import type { Holdfast } from '../../client/holdfast.ts';

import { withClient } from '../connect.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { followCompaction } from '../follow/follow-compaction.ts';
import type { CompactionEnd } from '../follow/follow-compaction.ts';
import { openDisplay, NO_DISPLAY } from '../follow/display.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { interruptible, LEFT_UNANSWERED } from '../interruption.ts';
import { openOutput } from '../output.ts';
import type { Output } from '../output.ts';

interface CompactFlags extends ConnectionFlags {
  readonly detach?: true;
  readonly plain?: true;
}

/** `holdfast compact`: makes the view smaller now. */
export function compactCommand(): Command {
  return withConnections(
    holdfastCommand('compact', {
      description:
        'Asks for a compaction and shows it: of a running turn before its next model call, of an idle conversation at once. Nothing is lost: originals stay and can be recalled.',
      examples: ['npx holdfast compact last', 'npx holdfast compact 4f1c22ab "keep the decisions about the schema"'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('[focus]', 'what the summary should keep above all')
    .option('--detach', 'return when the request is stored')
    .option('--plain', 'plain lines on a terminal too')
    .action(compact);
}

async function compact(reference: string, focus: string | undefined, flags: CompactFlags): Promise<void> {
  const output = openOutput({ plain: flags.plain === true });
  await withClient(flags, {}, async (client) => {
    const conversationId = await findConversation(client, reference);
    if (flags.detach === true) {
      const sent = await client.conversation.compact({ conversationId, ...(focus !== undefined && { focus }) });
      if (flags.json === true) output.json({ conversationId, messageId: sent.messageId });
      else output.line('The request is stored.');
      return;
    }
    const end = await requestAndFollow(client, output, { conversationId, focus, json: flags.json === true });
    if (flags.json === true) output.json({ conversationId, focus: focus ?? null, ...end });
    report(output, conversationId, end, flags.json === true);
  });
}

async function requestAndFollow(
  client: Holdfast,
  output: Output,
  {
    conversationId,
    focus,
    json,
  }: { readonly conversationId: string; readonly focus: string | undefined; readonly json: boolean },
): Promise<CompactionEnd | null> {
  const display = json ? NO_DISPLAY : openDisplay(output, () => 'Ctrl-C leaves; the compaction goes on.');
  const { result } = await interruptible(async (signal) => {
    try {
      return await followCompaction({
        client,
        conversationId,
        display,
        signal,
        request: async () => {
          await client.conversation.compact({ conversationId, ...(focus !== undefined && { focus }) });
        },
      });
    } finally {
      display.close();
    }
  });
  return result;
}

function report(output: Output, conversationId: string, end: CompactionEnd | null, json: boolean): void {
  switch (end?.kind) {
    case undefined:
      if (!json) output.line(LEFT_UNANSWERED);
      return;
    case 'committed':
      if (!json) output.line(`See its text: npx holdfast summaries ${shortId(conversationId)}`);
      return;
    case 'nothing':
      // Why is a line of the timeline already.
      if (!json && end.reason === null) output.line(NOTHING_TO_COMPACT);
      return;
    case 'failed':
      if (!json)
        output.lines(['The compaction did not succeed.', `  next: npx holdfast context ${shortId(conversationId)}`]);
      process.exitCode = EXIT_CODES.turnNotCompleted.code;
      return;
    case 'left':
      if (!json) output.line('You left; the request stands.');
  }
}
