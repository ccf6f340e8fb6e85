import { attachedFile } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { Queries } from '../database/database.ts';
import { entryTexts } from '../log/entry-text.ts';

/** Entries that one query reads: results of tools can be long. */
const ENTRIES_PER_PAGE = 50;

const KINDS = {
  user: ['user'],
  // What a summary says, it may have from a tool.
  // And what came with a message of the user, or with an import.
  tools: ['tool_result', 'branch_summary', 'compaction', 'user'],
} as const;

type Speaker = keyof typeof KINDS;

interface SaidText {
  readonly text: string;
  readonly entryId: string;
}

interface SaidRow {
  readonly id: string;
  readonly sequence: number;
  readonly kind: (typeof KINDS)[Speaker][number];
  /** Without images and files: they are large and say nothing here. */
  readonly content: readonly ContentPart[];
  readonly summary: string | null;
  /** It came with an import: whoever it says said it, nobody did here. */
  readonly isImported: boolean;
}

/**
 * Pages of what the user said in a conversation, or of what tools did (their results, summaries, files that the user attached, and messages
 * that were imported). Of all branches, newest first; for telling whose words a text repeats.
 */
export async function* readSaidWords(
  sql: Queries,
  conversationId: string,
  whose: Speaker,
): AsyncGenerator<readonly SaidText[], void, undefined> {
  let before: number | null = null;
  for (;;) {
    const rows: SaidRow[] = await sql<SaidRow[]>`
      select e.id, e.sequence, e.kind, k.summary, e.sequence <= coalesce(c.imported_through, 0) as is_imported, (
          -- By its beginning: Postgres cannot read a member of what holds NUL.
          select coalesce(json_agg(part), '[]') from json_array_elements(e.content) as parts (part)
          where left(part::text, 40) !~ '^\\s*\\{\\s*"type"\\s*:\\s*"(image|file)"') as content
      from entries e join conversations c on c.id = e.conversation_id
      left join compactions k on k.conversation_id = e.conversation_id and k.marker_entry_id = e.id
      where e.conversation_id = ${conversationId} and e.kind = any(${[...KINDS[whose]]})
        ${before === null ? sql`` : sql`and e.sequence < ${before}`}
      order by e.sequence desc limit ${ENTRIES_PER_PAGE}`;
    if (rows.length > 0) yield rows.flatMap((row) => saidTexts(row, whose));
    if (rows.length < ENTRIES_PER_PAGE) return;
    before = rows.at(-1)?.sequence ?? null;
  }
}

function saidTexts(row: SaidRow, whose: Speaker): SaidText[] {
  const texts = row.kind === 'user' ? textsOfMessage(row, whose) : textsOf(row);
  return texts.map((text) => ({ text, entryId: row.id }));
}

/** What the user said himself, or all else that stands in a message of his. */
function textsOfMessage({ content, isImported }: SaidRow, whose: Speaker): readonly string[] {
  const isSaid = (part: ContentPart): boolean => part.type === 'text' && !isImported && attachedFile(part) === null;
  const asked = content.filter((part) => part.type === 'text' && isSaid(part) === (whose === 'user'));
  return asked.length === 0 ? [] : entryTexts(asked);
}

function textsOf({ kind, content, summary }: SaidRow): readonly string[] {
  if (kind === 'compaction') return [summary ?? ''];
  return entryTexts(content.filter(({ type }) => type === 'text'));
}
