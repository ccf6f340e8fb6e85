import { readOrigin } from '../../context/memory/memory-origin.ts';
import type { MemorySource, SaidText } from '../../context/memory/memory-origin.ts';
import { finishGivingWay } from '../../models/protocols/give-way.ts';
import type { Queries } from '../../store/database/database.ts';
import type { MemoryScope } from '../../store/memory/memories.ts';
import { readQuotedMemories } from '../../store/memory/quoted-memories.ts';
import { readSaidWords } from '../../store/memory/said-words.ts';

/** Characters that are looked through for the words of a memory: some four million tokens. A second of English, three of Chinese. */
const MOST_CHARACTERS = 16_000_000;

/**
 * Whose words a memory rests on, and the entry of the conversation that says them, by all that the model may have them from: what
 * was said in the conversation, however long ago, and what other conversations left to these scopes as quoted data. Otherwise a page
 * that one conversation read would come back in another as the model's own words.
 */
export async function findOrigin(
  sql: Queries,
  {
    text,
    conversationId,
    scopes,
    mostCharacters = MOST_CHARACTERS,
  }: {
    readonly text: string;
    readonly conversationId: string;
    readonly scopes: readonly MemoryScope[];
    /** Of the user and of tools, each. Beyond them, what is not the user's counts as a tool's. */
    readonly mostCharacters?: number;
  },
): Promise<MemorySource> {
  const reading = readOrigin(text);
  const ofUser = await walk(
    [readSaidWords(sql, conversationId, 'user')],
    (texts) => reading.readUser(texts),
    mostCharacters,
  );
  if (ofUser === 'settled') return reading.source(true);
  const ofTools = await walk(
    [readQuotedMemories(sql, scopes), readSaidWords(sql, conversationId, 'tools')],
    (texts) => reading.readTools(texts),
    mostCharacters,
  );
  return reading.source(ofTools !== 'cut_off');
}

/** Page by page, until one settles it, none is left, or enough characters were read. */
async function walk(
  sources: readonly AsyncIterable<readonly SaidText[]>[],
  read: (texts: readonly SaidText[]) => Generator<undefined, boolean>,
  mostCharacters: number,
): Promise<'settled' | 'read' | 'cut_off'> {
  let left = mostCharacters;
  for (const source of sources) {
    for await (const texts of source) {
      if (left <= 0) return 'cut_off';
      if (await finishGivingWay(read(texts))) return 'settled';
      left -= texts.reduce((sum, { text }) => sum + text.length, 0);
    }
  }
  return 'read';
}
