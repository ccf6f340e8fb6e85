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
import { withoutSecrets } from '../../tools/runtime/restated-secrets.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import type { SummarizeInput } from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { redactedOriginals, secretsLeftOut, outlivesConversation, saidSecrets, secretsOfEntries } from './redaction.ts';

/** A token is never more characters than this in what users write. */
const CHARACTERS_PER_TOKEN = 8;

/** What a part's text is made from. */
export interface SummaryWork {
  readonly input: SummarizeInput;
  readonly source: PartSource;
  readonly snapshot: AgentSnapshot;
  /** The policy as the part asks with it. */
  readonly policy: CompactionPolicy;
  /** As they were said: they tell what is a secret. */
  readonly originals: readonly Entry[];
  /** The same without their secrets: what the text quotes. */
  readonly entries: readonly Entry[];
  /** Secrets that were left out of them. */
  readonly leftOut: number;
}

/**
 * A checked text as it is stored: with what it must not lose and does not name, appended from the
 * originals instead of being asked for again, with the user's messages where the policy quotes them,
 * and without Holdfast's own keys and secrets of well-known forms (R28), which are counted. What is appended is taken out of its
 * place: a password that only its connection string tells to be one goes too.
 */
export async function finishedText(
  dependencies: ActivityDependencies,
  work: SummaryWork,
  text: string,
): Promise<{ readonly text: string; readonly count: number }> {
  const composed = await composedText(dependencies, work, text);
  const appended = secretsLeftOut(composed, { of: work.leftOut, already: text });
  const redacted = await redactSecrets(composed);
  const restated = withoutSecrets(redacted.text, await secretsIn(dependencies, work, redacted.text));
  return { text: restated.text, count: appended + redacted.count + restated.count };
}

/** What stands in a text and is known as a secret by what stands beside it where the work reads. */
async function secretsIn(
  { database }: ActivityDependencies,
  { originals, input, snapshot }: Pick<SummaryWork, 'originals' | 'input' | 'snapshot'>,
  text: string,
): Promise<ReadonlySet<string>> {
  if (outlivesConversation(snapshot.policy)) return saidSecrets(database, input.turn.conversationId, text);
  return secretsOfEntries(text, [originals]);
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
  const quoted = await withoutTheirSecrets(dependencies, work, messages);
  return maskText(insertQuotes(snapshot.policy, complete, quoteUserMessages(quoted, quotedLimit)), secrets);
}

/** Of messages that the work reads besides its originals. */
async function withoutTheirSecrets(
  dependencies: ActivityDependencies,
  work: SummaryWork,
  messages: readonly Entry[],
): Promise<readonly Entry[]> {
  const originals = [...work.originals, ...messages];
  const { entries } = await redactedOriginals(messages, (text) =>
    secretsIn(dependencies, { ...work, originals }, text),
  );
  return entries;
}

/** The summary that is updated; its lists of files are kept beside it. */
export function previousText({ previousSummary }: PartSource): string | null {
  return previousSummary === null ? null : withoutFileLists(previousSummary.text);
}

async function withMustKeep(dependencies: ActivityDependencies, work: SummaryWork, text: string): Promise<string> {
  const { source, entries } = work;
  const earlierTexts = [previousText(source) ?? '', ...source.parts.map((part) => part.text ?? '')];
  const openRequests = await withoutTheirSecrets(dependencies, work, await openRequestsOf(dependencies, work));
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
