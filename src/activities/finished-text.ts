import type { Entry } from '../context/entry.ts';
import { appendMissing, missingFromSummary } from '../context/must-keep.ts';
import { withoutFileLists } from '../context/file-lists.ts';
import { isLastPart } from '../context/part-policy.ts';
import type { CompactionPolicy } from '../context/policy.ts';
import { insertQuotes, quoteUserMessages, quotingSection } from '../context/summary-quotes.ts';
import type { PartSource } from '../store/compaction-parts.ts';
import { entryTexts } from '../store/entry-text.ts';
import { readTurnRequests, readUserMessages } from '../store/user-messages.ts';
import { redactSecrets } from '../tools/redact-secrets.ts';
import { restatedSecrets, withoutSecrets } from '../tools/restated-secrets.ts';
import { maskText } from '../tools/secret-mask.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { SummarizeInput } from '../turn/activity-values.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { saidSecrets } from './said-secrets.ts';

/** A token is never more characters than this in what users write. */
const CHARACTERS_PER_TOKEN = 8;

/** What a part's text is made from. */
export interface SummaryWork {
  readonly input: SummarizeInput;
  readonly source: PartSource;
  readonly snapshot: AgentSnapshot;
  /** The policy as the part asks with it. */
  readonly policy: CompactionPolicy;
  readonly entries: readonly Entry[];
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
  const redacted = await redactSecrets(await composedText(dependencies, work, text));
  const restated = withoutSecrets(redacted.text, await secretsIn(dependencies, work, redacted.text));
  return { text: restated.text, count: redacted.count + restated.count };
}

/** What becomes a memory outlives its conversation: a secret may have been told in a part that was summarized long ago. */
async function secretsIn({ database }: ActivityDependencies, work: SummaryWork, text: string) {
  const { entries, input, snapshot } = work;
  if (snapshot.policy.summary.memory !== undefined) return saidSecrets(database, input.turn.conversationId, text);
  return restatedSecrets(
    text,
    entries.flatMap(({ content }) => entryTexts(content)),
  );
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
  return maskText(insertQuotes(snapshot.policy, complete, quoteUserMessages(messages, quotedLimit)), secrets);
}

/** The summary that is updated; its lists of files are kept beside it. */
export function previousText({ previousSummary }: PartSource): string | null {
  return previousSummary === null ? null : withoutFileLists(previousSummary.text);
}

async function withMustKeep(dependencies: ActivityDependencies, work: SummaryWork, text: string): Promise<string> {
  const { source, entries } = work;
  const earlierTexts = [previousText(source) ?? '', ...source.parts.map((part) => part.text ?? '')];
  const openRequests = await openRequestsOf(dependencies, work);
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
  return requests.filter(({ id }) => !plan.keptUserEntryIds.includes(id));
}
