import type { Entry } from '../../context/log/entry.ts';
import { readableEntries } from '../../context/plan/summary-sizes.ts';
import { readOriginals } from '../../store/compactions/compaction-parts.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { secretsIn } from './finished-text.ts';
import type { SummaryWork } from './finished-text.ts';
import { redactedOriginals } from './redacted-originals.ts';

type Reading = Pick<SummaryWork, 'input' | 'source' | 'snapshot'>;

/** What a part reads, and the same without its secrets. */
export async function readOriginalsOf(
  dependencies: ActivityDependencies,
  reading: Reading,
): Promise<Pick<SummaryWork, 'originals' | 'entries' | 'leftOut'>> {
  const originals = await readPartOriginals(dependencies, reading);
  const { entries, count } = await redactedOriginals(originals, (text) =>
    secretsIn(dependencies, { ...reading, originals }, text),
  );
  return { originals, entries, leftOut: count };
}

async function readPartOriginals(
  { database }: ActivityDependencies,
  { input, source: { row, compaction } }: Reading,
): Promise<readonly Entry[]> {
  const { fromSequence, toSequence } = row.part;
  if (fromSequence === undefined || toSequence === undefined) return [];
  const { conversationId } = input.turn;
  const range = { conversationId, headEntryId: compaction.headEntryId, fromSequence, toSequence };
  const entries: Entry[] = [];
  for await (const page of readOriginals(database, range)) entries.push(...page);
  return row.part.kind === 'flush' ? entries : readableEntries(compaction.plan, entries);
}
