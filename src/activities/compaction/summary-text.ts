import type { Entry } from '../../context/log/entry.ts';
import type { MediaLimits } from '../../context/plan/plan.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { insertQuotes, quoteUserMessages, quotingSection } from '../../context/summary/check-summary.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import { branchRoom } from '../../context/summary/branch-summary.ts';
import { splitLists } from '../../context/summary/summary-message.ts';
import {
  QUOTED_CHARACTERS,
  requestBefore,
  sharedSummaryView,
  summaryView,
} from '../../context/summary/summary-request.ts';
import type { SummaryRequest } from '../../context/summary/summary-request.ts';
import { readLastCall } from '../../store/attempts/find-model-call.ts';
import { readOriginals, readUserMessages } from '../../store/compactions/originals.ts';
import type { PartSource } from '../../store/compactions/compaction-parts.ts';
import { readBranchCommand } from '../../store/conversations/branch-commands.ts';
import { chooseLeftEntries } from '../../store/conversations/left-branch.ts';
import type { Database } from '../../store/database/database.ts';
import { readProjectionSource } from '../../store/log/view.ts';
import { readCalibration } from '../../store/providers/calibrations.ts';
import { redactTexts, redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import type { SummarizeInput } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { sharedRequestOptions, summaryRequestOptions } from '../../turn/agent-snapshot.ts';
import type { RequestOptions, AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { readFit } from './plan-compaction.ts';
import { redactedOriginals } from './redaction.ts';

/** A provider keeps a prefix at least so long after reading it, less a minute for the call. Milliseconds. */
const CACHE_LIFETIME_MILLISECONDS = { '5m': 240_000, '1h': 3_540_000 };

/** A request for a summary, with its origin. */
export interface AskedRequest extends SummaryRequest {
  readonly maximumOutput: number;
  readonly options: RequestOptions;
  /** Limits of the server for images and files, applied as in the last request. */
  readonly media?: MediaLimits;
  /** Number of removed secrets. */
  readonly redacted: number;
}

/** Asks behind the last request if the provider still has it cached, otherwise with a transcript. */
export async function summaryRequest(dependencies: ActivityDependencies, task: SummaryTask): Promise<AskedRequest> {
  const shared = await sharedRequest(dependencies, task);
  if (shared !== null) return shared;
  const request = await transcriptRequest(dependencies, task);
  const { maximumOutput } = task.source.row.part;
  return { ...request, maximumOutput, options: summaryRequestOptions(task.snapshot.request) };
}

/** The model has seen this prefix, so nothing is redacted in it (R28). */
async function sharedRequest(dependencies: ActivityDependencies, task: SummaryTask): Promise<AskedRequest | null> {
  const { database } = dependencies;
  const { source, snapshot, policy, input, entries } = task;
  const { compaction, row } = source;
  if (policy.summary.sharesPrefix === null || snapshot.summarizer.model !== snapshot.model) return null;
  const last = await readLastCall(database, input.turn.conversationId);
  const lifetime = CACHE_LIFETIME_MILLISECONDS[snapshot.request?.cacheLifetime ?? '5m'];
  const isCached = last !== null && last.model === snapshot.model && last.showsNewestCompaction;
  if (!isCached || last.ageMilliseconds > lifetime) return null;
  const [check, projection] = await Promise.all([
    readFit(database, input.turn),
    readProjectionSource(database, { turn: input.turn, headEntryId: compaction.headEntryId }),
  ]);
  const { runtime: _changesWithEachCall, ...shown } = projection.input;
  const { options, thinkingRoom } = sharedRequestOptions(snapshot.request, row.part.maximumOutput);
  const request = sharedSummaryView({
    policy,
    plan: { ...compaction.plan, form: compaction.form },
    reason: compaction.reason,
    part: row.part,
    failures: row.failures,
    entries,
    focus: compaction.focus,
    contextLines: compaction.contextLines,
    agent: snapshot,
    turnIsOpen: compaction.plan.insideTurn,
    summarizer: check.modelLimits,
    calibration: check.calibration,
    shown,
    fixed: check.fixed,
    thinkingRoom,
  });
  if (request === null) return null;
  const maximumOutput = Math.min(row.part.maximumOutput + thinkingRoom, check.modelLimits.maximumOutput);
  return { ...request, maximumOutput, options, redacted: 0, ...definedOf({ media: check.modelLimits.maximumMedia }) };
}

/** A separate request. Secrets are removed from each text before any of it is quoted in part (R28). */
async function transcriptRequest(
  { database }: ActivityDependencies,
  task: SummaryTask,
): Promise<SummaryRequest & Pick<AskedRequest, 'redacted'>> {
  const { source, snapshot, policy } = task;
  const { compaction } = source;
  const { prepend, append } = compaction.contextLines;
  const quoted = [snapshot.instructions, compaction.focus ?? '', previousText(source) ?? '', ...prepend, ...append];
  const { texts, count } = await redactTexts(quoted);
  const [instructions = '', focus = '', previousSummary = '', ...lines] = texts;
  const request = summaryView({
    policy,
    parts: compaction.plan.parts,
    part: source.row.part,
    entries: [...task.request, ...task.entries],
    previousSummary: source.previousSummary === null ? null : previousSummary,
    partTexts: source.parts.map(({ text }) => text ?? ''),
    focus: compaction.focus === null ? null : focus,
    agent: { ...snapshot, instructions },
    contextLines: { prepend: lines.slice(0, prepend.length), append: lines.slice(prepend.length) },
    turnIsOpen: compaction.plan.insideTurn,
    summarizer: snapshot.summarizer.limits,
    calibration: await readCalibration(database, { ...task.input.turn, ...snapshot.summarizer }),
    shorter: compaction.form === 'shorter_summary',
  });
  return { ...request, redacted: count + task.leftOut };
}

/** In what users write, a token is never longer. */
const CHARACTERS_PER_TOKEN = 8;

/** One part to summarize, and what it is made of. */
export interface SummaryTask {
  readonly input: SummarizeInput;
  readonly execution: Execution;
  readonly source: PartSource;
  readonly snapshot: AgentSnapshot;
  /** The policy with the part's own changes. */
  readonly policy: CompactionPolicy;
  /** Originals without their secrets, for quotes. */
  readonly entries: readonly Entry[];
  /** What the user asked before them. */
  readonly request: readonly Entry[];
  /** Number of removed secrets. */
  readonly leftOut: number;
}

/**
 * A checked text as it is stored: with the user's messages if the policy quotes them, and without Holdfast's keys and secrets of well-
 * known forms (R28), which are counted.
 */
export async function finishedText(
  { database, secrets }: ActivityDependencies,
  task: SummaryTask,
  text: string,
): Promise<{ readonly text: string; readonly count: number }> {
  return redactSecrets(maskText(await withQuotes(database, task, text), secrets));
}

async function withQuotes(database: Database, { source, snapshot, input }: SummaryTask, text: string): Promise<string> {
  const { compaction, row } = source;
  const { kind, number } = row.part;
  // Its text, or the one that it is put together with, is the summary.
  const isLast = kind !== 'flush' && kind !== 'branch' && compaction.plan.parts.every((part) => part.number <= number);
  if (!isLast || quotingSection(snapshot.policy) === undefined) return text;
  const quotedLimit = compaction.plan.quotedLimit ?? 0;
  const messages = await readUserMessages(database, {
    conversationId: input.turn.conversationId,
    headEntryId: compaction.headEntryId,
    throughSequence: compaction.plan.coveredThroughSequence ?? 0,
    characters: quotedLimit * CHARACTERS_PER_TOKEN,
  });
  const { entries: quoted } = await redactedOriginals(messages);
  return insertQuotes(snapshot.policy, text, quoteUserMessages(quoted, quotedLimit));
}

/** The summary that is updated, without its lists of files, which are kept separately. */
export function previousText({ previousSummary }: PartSource): string | null {
  return previousSummary === null ? null : splitLists(previousSummary.text).written;
}

/** The originals of a part and what the user asked before it, without their secrets. */
export async function readOriginalsOf(
  { database }: ActivityDependencies,
  { input, source: { row, compaction }, snapshot }: Pick<SummaryTask, 'input' | 'source' | 'snapshot'>,
): Promise<Pick<SummaryTask, 'entries' | 'request' | 'leftOut'>> {
  if (row.part.kind === 'branch') return readBranch(database, input.turn, snapshot);
  const { fromSequence, toSequence } = row.part;
  if (fromSequence === undefined || toSequence === undefined) return { entries: [], request: [], leftOut: 0 };
  const branch = { conversationId: input.turn.conversationId, headEntryId: compaction.headEntryId };
  const originals: Entry[] = [];
  for await (const page of readOriginals(database, { ...branch, fromSequence, toSequence })) originals.push(...page);
  const { entries, count } = await redactedOriginals(originals);
  const before = { ...branch, throughSequence: fromSequence - 1, characters: QUOTED_CHARACTERS };
  const earlier = await redactedOriginals(await readUserMessages(database, before));
  return { entries, request: requestBefore(entries, earlier.entries), leftOut: count + earlier.count };
}

/** What a summary of the branch that the turn leaves reads of it. */
async function readBranch(
  database: Database,
  turn: TurnReference,
  { policy, summarizer }: AgentSnapshot,
): Promise<Pick<SummaryTask, 'entries' | 'request' | 'leftOut'>> {
  const read = await readBranchCommand(database, turn);
  if (read.kind !== 'command') return { entries: [], request: [], leftOut: 0 };
  const { conversationId } = turn;
  const left = await chooseLeftEntries(
    database,
    { conversationId, command: read.command },
    {
      budget: branchRoom(policy, summarizer.limits),
      calibration: await readCalibration(database, { ...turn, ...summarizer }),
    },
  );
  const { entries, count } = await redactedOriginals(left);
  return { entries, request: [], leftOut: count };
}
