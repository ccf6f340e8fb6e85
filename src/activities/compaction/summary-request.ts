import { definedOf } from '../../context/policy/defined-of.ts';
import type { MediaLimits } from '../../context/plan/plan.ts';
import { sharedSummaryView } from '../../context/summary/shared-summary-request.ts';
import { summaryView, type SummaryRequest } from '../../context/summary/summary-request.ts';
import { readCalibration } from '../../store/providers/calibrations.ts';
import { readLastCall } from '../../store/attempts/find-model-call.ts';
import { readProjectionSource } from '../../store/log/view.ts';
import { redactTexts } from '../../tools/runtime/redact-secrets.ts';
import { sharedRequestOptions, summaryRequestOptions } from '../../turn/request-options.ts';
import type { RequestOptions } from '../../turn/request-options.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { previousText } from './finished-text.ts';
import { readFit } from './plan-compaction.ts';
import { redactedView } from './redaction.ts';
import type { SummaryTask } from './summarize.ts';

/** A provider keeps a prefix at least so long after it was read; a minute is left for the call. Milliseconds. */
const CACHE_LIFETIME_MILLISECONDS = { '5m': 240_000, '1h': 3_540_000 };

/** A request for a summary, and how it is made. */
export interface AskedRequest extends SummaryRequest {
  readonly maximumOutput: number;
  readonly options: RequestOptions;
  /** What the server is known to take of images and files: left out as in the request before. */
  readonly media?: MediaLimits;
  /** Secrets that were left out of it. */
  readonly redacted: number;
}

/** Behind the beginning of the last request where the provider still has it cached, otherwise with a transcript. */
export async function summaryRequest(dependencies: ActivityDependencies, task: SummaryTask): Promise<AskedRequest> {
  const shared = await sharedRequest(dependencies, task);
  if (shared !== null) return shared;
  const request = await transcriptRequest(dependencies, task);
  const { maximumOutput } = task.source.row.part;
  return { ...request, maximumOutput, options: summaryRequestOptions(task.snapshot.request) };
}

/** The model has seen what it shows: nothing is redacted on the way in (R28). */
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

/** A request of its own, without secrets (R28): those of what it quotes in part are left out before. */
async function transcriptRequest(
  dependencies: ActivityDependencies,
  task: SummaryTask,
): Promise<SummaryRequest & Pick<AskedRequest, 'redacted'>> {
  const { focus, instructions, count } = await redactedWords(task);
  const request = await plainRequest(dependencies, task, { focus, instructions });
  const { view, redacted } = await redactedView(request.view);
  return { ...request, view, redacted: redacted + count + task.leftOut };
}

interface QuotedWords {
  readonly focus: string | null;
  readonly instructions: string;
}

async function redactedWords({ source, snapshot }: SummaryTask): Promise<QuotedWords & { readonly count: number }> {
  const { focus } = source.compaction;
  const { texts, count } = await redactTexts([snapshot.instructions, focus ?? '']);
  const [instructions = '', shown = ''] = texts;
  return { instructions, focus: focus === null ? null : shown, count };
}

async function plainRequest(
  { database }: ActivityDependencies,
  task: SummaryTask,
  { focus, instructions }: QuotedWords,
): Promise<SummaryRequest> {
  const { source, snapshot, policy, entries } = task;
  return summaryView({
    policy,
    parts: source.compaction.plan.parts,
    part: source.row.part,
    entries,
    previousSummary: previousText(source),
    partTexts: source.parts.map((each) => ({ kind: each.part.kind, text: each.text ?? '' })),
    focus,
    agent: { ...snapshot, instructions },
    contextLines: source.compaction.contextLines,
    turnIsOpen: source.compaction.plan.insideTurn,
    summarizer: snapshot.summarizer.limits,
    calibration: await readCalibration(database, { ...task.input.turn, ...snapshot.summarizer }),
    shorter: source.compaction.form === 'shorter_summary',
  });
}
