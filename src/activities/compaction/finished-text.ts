import type { Entry } from '../../context/log/entry.ts';
import { readableEntries } from '../../context/plan/summary-sizes.ts';
import { isLastPart } from '../../context/policy/part-policy.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import { withoutFileLists } from '../../context/summary/file-lists.ts';
import { appendMissing, missingFromSummary } from '../../context/summary/must-keep.ts';
import { insertQuotes, quoteUserMessages, quotingSection } from '../../context/summary/summary-quotes.ts';
import { readOriginals } from '../../store/compactions/compaction-parts.ts';
import type { PartSource } from '../../store/compactions/compaction-parts.ts';
import { readTurnRequests, readUserMessages } from '../../store/messages/user-messages.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import type { SummarizeInput } from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { redactedOriginals, secretsLeftOut } from './redaction.ts';

/** A token is never more characters than this in what users write. */
const CHARACTERS_PER_TOKEN = 8;

/** What a part's text is made from. */
export interface SummaryWork {
  readonly input: SummarizeInput;
  readonly source: PartSource;
  readonly snapshot: AgentSnapshot;
  /** The policy as the part asks with it. */
  readonly policy: CompactionPolicy;
  /** Originals without their secrets: what the text quotes. */
  readonly entries: readonly Entry[];
  /** Secrets that were left out of them. */
  readonly leftOut: number;
}

/**
 * A checked text as it is stored: with what it must not lose and does not name, appended from the
 * originals instead of being asked for again, with the user's messages where the policy quotes them,
 * and without Holdfast's own keys and secrets of well-known forms (R28), which are counted.
 */
export async function finishedText(
  dependencies: ActivityDependencies,
  work: SummaryWork,
  text: string,
): Promise<{ readonly text: string; readonly count: number }> {
  const composed = await composedText(dependencies, work, text);
  const appended = secretsLeftOut(composed, { of: work.leftOut, already: text });
  const redacted = await redactSecrets(composed);
  return { text: redacted.text, count: appended + redacted.count };
}

async function composedText(dependencies: ActivityDependencies, work: SummaryWork, text: string): Promise<string> {
  const { database, secrets } = dependencies;
  const { source, snapshot, input } = work;
  const { compaction, row } = source;
  if (row.part.kind === 'flush') return maskText(text, secrets);
  const isExtract = compaction.form === 'extractive_summary';
  const complete = isExtract ? text : await withMustKeep(dependencies, work, text);
  const isLast = isLastPart(compaction.plan.parts, row.part);
  if (!isLast || quotingSection(snapshot.policy) === undefined) return maskText(complete, secrets);
  const quotedLimit = compaction.plan.quotedLimit ?? 0;
  const messages = await readUserMessages(database, {
    conversationId: input.turn.conversationId,
    headEntryId: compaction.headEntryId,
    throughSequence: compaction.plan.coveredThroughSequence ?? 0,
    characters: quotedLimit * CHARACTERS_PER_TOKEN,
  });
  const { entries: quoted } = await redactedOriginals(messages);
  return maskText(insertQuotes(snapshot.policy, complete, quoteUserMessages(quoted, quotedLimit)), secrets);
}

/** The summary that is updated; its lists of files are kept beside it. */
export function previousText({ previousSummary }: PartSource): string | null {
  return previousSummary === null ? null : withoutFileLists(previousSummary.text);
}

async function withMustKeep(dependencies: ActivityDependencies, work: SummaryWork, text: string): Promise<string> {
  const { source, entries } = work;
  const earlierTexts = [previousText(source) ?? '', ...source.parts.map((part) => part.text ?? '')];
  const { entries: openRequests } = await redactedOriginals(await openRequestsOf(dependencies, work));
  const missing = missingFromSummary({ text, entries, earlierTexts, openRequests });
  return appendMissing(text, missing, source.compaction.plan.summaryLimit);
}

/** What the running turn was asked and no view shows any more: a summary of a summary must not lose it. */
async function openRequestsOf({ database }: ActivityDependencies, { source, input }: SummaryWork): Promise<Entry[]> {
  const { plan, headEntryId } = source.compaction;
  if (!plan.insideTurn || plan.inPlace === true || !isLastPart(plan.parts, source.row.part)) return [];
  const requests = await readTurnRequests(database, {
    conversationId: input.turn.conversationId,
    turnId: input.turn.turnId,
    headEntryId,
    throughSequence: plan.coveredThroughSequence ?? 0,
  });
  return requests.filter(({ sequence }) => !plan.keptSequences.includes(sequence));
}

/** What a part reads, without its secrets. */
export async function readOriginalsOf(
  { database }: ActivityDependencies,
  { input, source: { row, compaction } }: Pick<SummaryWork, 'input' | 'source'>,
): Promise<Pick<SummaryWork, 'entries' | 'leftOut'>> {
  const { fromSequence, toSequence } = row.part;
  if (fromSequence === undefined || toSequence === undefined) return { entries: [], leftOut: 0 };
  const { conversationId } = input.turn;
  const range = { conversationId, headEntryId: compaction.headEntryId, fromSequence, toSequence };
  const originals: Entry[] = [];
  for await (const page of readOriginals(database, range)) originals.push(...page);
  const readable = row.part.kind === 'flush' ? originals : readableEntries(compaction.plan, originals);
  const { entries, count } = await redactedOriginals(readable);
  return { entries, leftOut: count };
}
