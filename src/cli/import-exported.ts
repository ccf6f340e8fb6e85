import { createReadStream } from 'node:fs';
import { isConversationFile } from '../store/conversation-file/read-file.ts';
import { withReader } from './connect.ts';
import { shortId } from './find-conversation.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { plural } from './render/numbers.ts';
import { safeLine } from './render/safe-text.ts';

/** The header of such a file is a short line; a recorded session may begin with a very long one. */
const HEADER_BYTES = 1_024;

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

/** The same conversation again, as it was exported. */
export async function importExported(file: string, flags: ConnectionFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const imported = await client.importConversation({ lines: linesOf(file) });
    if (flags.json === true) {
      output.json({ conversations: [imported] });
      return;
    }
    const { conversationId, turns, entries, memories } = imported;
    output.lines([
      `conversation ${conversationId}: ${plural(turns, 'turn')}, ${plural(entries, 'entry', 'entries')}, as it was exported`,
      ...memories.map(
        ({ scope, scopeName, count }) =>
          `  with ${plural(count, 'memory', 'memories')} for the ${scope} ${safeLine(scopeName)}, shown as data, not as the user's words`,
      ),
      `  go on with it: npx holdfast send ${shortId(conversationId)} "…"`,
    ]);
  });
}

/** The lines of a file. Inside a string of JSON may stand what other readers of lines take for an end of one (U+2028). */
async function* linesOf(file: string): AsyncGenerator<string> {
  let begun = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    const [first = '', ...rest] = String(chunk).split('\n');
    begun += first;
    for (const next of rest) {
      yield begun;
      begun = next;
    }
  }
  if (begun !== '') yield begun;
}
