import { definedOf } from '../../context/policy/defined-of.ts';
import type { ReindexProgress, Reindexed } from '../../client/types.ts';
import { readerCommand } from '../command.ts';
import { findConversation, shortId } from '../find-conversation.ts';
import { interruptible } from '../interruption.ts';
import { formatCount, plural } from '../render/text/numbers.ts';
import { argument } from '../options.ts';

/** The old index of what was begun is gone; that of the others is there. */
const STOPPED = [
  '  The one that was begun is finished by the upkeep of a worker, or by the next search there; the rest keeps the index that it had.',
  '  next: npx holdfast db reindex',
];

const reindex = readerCommand({
  description:
    'Builds the search index of one conversation, or of all, anew. You need it only if the index was damaged or Postgres has other dictionaries, because new entries are indexed by themselves. After Ctrl-C a worker or the next search finishes it.',
  examples: ['npx holdfast db reindex', 'npx holdfast db reindex last'],
  arguments: [argument('[conversation]', 'id, its beginning or end, or `last`; default: all')],
  needs: { search: true },
  async run({ client, output }, { json = false }, reference) {
    const conversationId = reference === undefined ? undefined : await findConversation(client, reference);
    const done = { conversations: 0, passages: 0 };
    const { result } = await interruptible((signal) =>
      client.memory.reindex({
        ...definedOf({ conversationId }),
        signal,
        onProgress: (progress) => {
          done.conversations = progress.done;
          done.passages += progress.passages;
          if (!json && progress.of > 1) output.remark(progressLine(progress));
        },
      }),
    );
    // A long batch is not waited for.
    const reindexed = result ?? { ...done, embedded: 0, interrupted: true };
    return { json: reindexed, lines: resultLines(reindexed) };
  },
});

export const commands = { reindex };

function progressLine({ conversationId, done, of, passages }: ReindexProgress): string {
  return `${formatCount(done)} of ${formatCount(of)}: conversation ${shortId(conversationId)}, ${plural(passages, 'passage')}`;
}

function resultLines({ conversations, passages, embedded, interrupted }: Reindexed): string[] {
  const [of, indexed] = [plural(conversations, 'conversation'), plural(passages, 'passage')];
  const made = embedded > 0 ? `; made ${plural(embedded, 'embedding')}` : '';
  return [
    interrupted ? `Stopped after ${of}, with ${indexed} indexed${made}.` : `Indexed ${indexed} of ${of}${made}.`,
    ...(interrupted ? STOPPED : []),
  ];
}
