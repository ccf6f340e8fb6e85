import { createReadStream } from 'node:fs';
import { LONGEST_LINE_BYTES, readLines } from '../../import/read/read-lines.ts';
import { isConversationFile } from '../../store/transfer/conversation-file.ts';
import { StoreError } from '../../store/database/errors.ts';
import type { Printed } from '../command.ts';
import { withReader } from '../connect.ts';
import { shortId } from '../find-conversation.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { plural } from '../render/text/numbers.ts';
import { safeLine } from '../render/text/safe-text.ts';

/** The header of such a file is a short line; a recorded session may begin with a very long one. */
const HEADER_BYTES = 1_024;

/** What an imported conversation is to be here. */
export interface NewConversationFlags {
  readonly agent?: string;
  readonly model?: string;
  readonly preset?: string;
  /** Absolute path. */
  readonly workspace?: string;
}

/** Whether `holdfast export` wrote the file. What cannot be read is none; who reads it next says why. */
export async function isExported(file: string): Promise<boolean> {
  try {
    for await (const chunk of createReadStream(file, { end: HEADER_BYTES, encoding: 'utf8' })) {
      return isConversationFile(String(chunk).split('\n', 1)[0] ?? '');
    }
    return false;
  } catch {
    return false;
  }
}

/** The same conversation again, as it was exported, with the settings that are given here. */
export async function importExported(
  file: string,
  flags: ConnectionFlags,
  chosen: NewConversationFlags,
): Promise<Printed> {
  const [{ selectAgent }, { loadConfiguration }] = await Promise.all([
    import('../../config/configuration.ts'),
    import('../../config/load-configuration.ts'),
  ]);
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  const { workspace, memory } = selectAgent(configuration, chosen.agent ?? 'default', chosen);
  const memoriesOf = { workspace, ...(memory !== undefined && { user: memory.user }) };
  return withReader(flags, async (client) => {
    const imported = await client.conversation.import({ lines: linesOf(file), memoriesOf, ...chosen });
    const { conversationId, turns, entries, pins, memories } = imported;
    const lines = [
      `conversation ${conversationId}: ${plural(turns, 'turn')}, ${plural(entries, 'entry', 'entries')}, as it was exported`,
      ...(pins === 0
        ? []
        : [`  with ${plural(pins, 'pinned rule')}, in every request: npx holdfast pin ${shortId(conversationId)}`]),
      ...memories.map(
        ({ scope, scopeName, count }) =>
          `  with ${plural(count, 'memory', 'memories')} for the ${scope} ${safeLine(scopeName)}, shown as data, not as the user's words`,
      ),
      `  go on with it: npx holdfast send ${shortId(conversationId)} "…"`,
    ];
    return { json: { conversations: [imported] }, lines };
  });
}

/** The lines of a file, one held at a time. */
async function* linesOf(file: string): AsyncGenerator<string> {
  for await (const line of readLines(file)) {
    if (line.kind === 'line') yield line.bytes.toString('utf8');
    else {
      const most = `${LONGEST_LINE_BYTES / 1024 / 1024} MB`;
      throw new StoreError('conversation_file_invalid', `line ${line.number} of the file: it is longer than ${most}`);
    }
  }
}
