import { definedOf } from '../../context/policy/defined-of.ts';
import { NOTHING_TO_COMPACT } from '../../turn/explain-outcome.ts';
import { conversationCommand } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { shortId } from '../find-conversation.ts';
import { NO_DISPLAY, openDisplay, showWhile } from '../follow/display.ts';
import { followCompaction } from '../follow/follow-compaction.ts';
import type { CompactionEnd } from '../follow/follow-compaction.ts';
import { LEFT_UNANSWERED } from '../interruption.ts';
import { argument, option } from '../options.ts';

const compact = conversationCommand({
  description:
    'Asks for a compaction and shows it. A running turn makes it before its next model call, an idle conversation at once. Originals stay and can be recalled.',
  examples: ['npx holdfast compact last', 'npx holdfast compact 4f1c22ab "keep the decisions about the schema"'],
  arguments: [argument('[focus]', 'what the summary should keep above all')],
  options: [
    option('--detach', 'return when the request is stored'),
    option('--plain', 'plain lines on a terminal too'),
  ],
  async run({ client, conversationId, output }, { detach, json = false }, focus) {
    const request = () => client.conversation.compact({ conversationId, ...definedOf({ focus }) });
    if (detach === true) {
      const { messageId } = await request();
      return { json: { conversationId, messageId }, lines: ['The request is stored.'] };
    }
    const shown = json ? NO_DISPLAY : openDisplay(output, () => 'Ctrl-C leaves; the compaction goes on.');
    const end = await showWhile(shown, (display, signal) =>
      followCompaction({ client, conversationId, display, signal, request }),
    );
    if (end?.kind === 'failed') process.exitCode = EXIT_CODES.turnNotCompleted.code;
    return { json: { conversationId, focus: focus ?? null, ...end }, lines: endLines(conversationId, end) };
  },
});

export const commands = { compact };

function endLines(conversationId: string, end: CompactionEnd | null): string[] {
  switch (end?.kind) {
    case undefined:
      return [LEFT_UNANSWERED];
    case 'committed':
      return [`See its text: npx holdfast summaries ${shortId(conversationId)}`];
    case 'nothing':
      // Why is a line of the timeline already.
      return end.reason === null ? [NOTHING_TO_COMPACT] : [];
    case 'failed':
      return ['The compaction did not succeed.', `  next: npx holdfast context ${shortId(conversationId)}`];
    case 'left':
      return ['You left; the request stands.'];
  }
}
