import { readSections } from '../context/summary/sections.ts';
import { listSummaries } from '../store/compactions/summaries.ts';
import type { SummaryRow } from '../store/compactions/summaries.ts';
import { readCurrentPoint, readSummaryInForce } from '../store/conversations/branch-path.ts';
import type { Database } from '../store/database/database.ts';
import type { OfConversation } from './arguments.ts';
import { knownConversation } from './conversation.ts';
import type { StoredSummary } from './types.ts';

interface OfSummaries extends OfConversation {
  readonly query?: string;
}

/** One query's worth: the rows hold whole summaries. */
const SUMMARIES_PER_PAGE = 200;

/** Newest first, however many there are. */
async function readSummaries(database: Database, options: OfSummaries): Promise<SummaryRow[]> {
  const rows: SummaryRow[] = [];
  for (;;) {
    const beforeNumber = rows.at(-1)?.number;
    const page = await listSummaries(database, {
      ...options,
      limit: SUMMARIES_PER_PAGE,
      ...(beforeNumber !== undefined && { beforeNumber }),
    });
    rows.push(...page);
    if (page.length < SUMMARIES_PER_PAGE) return rows;
  }
}

export async function listStoredSummaries(database: Database, options: OfSummaries): Promise<StoredSummary[]> {
  const [rows, inForce] = await Promise.all([
    readSummaries(database, options),
    readCurrentSummaryId(database, options.conversationId),
  ]);
  const summaries = rows.reverse().map((read): StoredSummary => {
    const { number: generation, reason: trigger, updates, asked, ...row } = read;
    const { files: _files, promptVersion: _promptVersion, parts: _parts, ...shown } = row;
    const unfolded = new Set(asked.sections.filter(({ open }) => open === true).map(({ title }) => title));
    const sections = readSections(row.text ?? '', asked).map(({ title, text }) => {
      return { title, text, open: unfolded.has(title) };
    });
    const updatesGeneration = row.text === null ? null : updates;
    const isInForce = row.compactionId === inForce;
    return Object.assign(shown, { generation, trigger, inForce: isInForce, updatesGeneration, sections });
  });
  return knownConversation(database, options.conversationId, summaries);
}

async function readCurrentSummaryId(database: Database, conversationId: string): Promise<string | null> {
  const point = await readCurrentPoint(database, conversationId);
  return point === null ? null : ((await readSummaryInForce(database, point))?.compactionId ?? null);
}
