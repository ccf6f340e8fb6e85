import type { Entry } from '../context/entry.ts';
import { appendMissing, missingFromSummary } from '../context/must-keep.ts';
import { withoutFileLists } from '../context/file-lists.ts';
import type { PlanPart } from '../context/plan.ts';
import type { CompactionPolicy } from '../context/policy.ts';
import { askedPolicy, insertQuotes, quoteUserMessages, quotingSection } from '../context/summary-quotes.ts';
import type { PartSource } from '../store/compaction-parts.ts';
import { readUserMessages } from '../store/user-messages.ts';
import { maskText } from '../tools/secret-mask.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { SummarizeInput } from '../turn/activity-values.ts';
import type { ActivityDependencies } from './dependencies.ts';

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

/** A flush has sections and a prompt of its own; others are asked for what a model has to write. */
export function partPolicy(policy: CompactionPolicy, part: PlanPart): CompactionPolicy {
  const { flush } = policy.summary;
  if (part.kind !== 'flush' || flush === undefined) return askedPolicy(policy, part.maximumOutput);
  const { summary } = policy;
  const prompts = { ...summary.prompts, history: flush.prompt };
  return { ...policy, summary: { ...summary, prompts, sections: flush.sections, headings: 'markdown' } };
}

/**
 * A checked text as it is stored: with what it must not lose and does not name, appended from the
 * originals instead of being asked for again, with the user's messages where the policy quotes them,
 * and without Holdfast's own keys.
 */
export async function finishedText(
  { database, secrets }: ActivityDependencies,
  work: SummaryWork,
  text: string,
): Promise<string> {
  const { source, snapshot, input } = work;
  const { compaction, row } = source;
  if (row.part.kind === 'flush') return maskText(text, secrets);
  const isExtract = compaction.form === 'extractive_summary';
  const complete = isExtract ? text : withMustKeep(work, text);
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

/** The user's messages are quoted once, in the text that the others lead to. */
function isLastPart(parts: readonly PlanPart[], part: PlanPart): boolean {
  return parts.every((other) => other.number <= part.number);
}

/** The summary that is updated; its lists of files are kept beside it. */
export function previousText({ previousSummary }: PartSource): string | null {
  return previousSummary === null ? null : withoutFileLists(previousSummary.text);
}

function withMustKeep({ source, entries }: SummaryWork, text: string): string {
  const earlierTexts = [previousText(source) ?? '', ...source.parts.map((part) => part.text ?? '')];
  return appendMissing(text, missingFromSummary({ text, entries, earlierTexts }), source.compaction.plan.summaryLimit);
}
