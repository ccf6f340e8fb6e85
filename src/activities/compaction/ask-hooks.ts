import type {
  BeforeCompaction,
  CompactionDecision,
  CompactionPreparation,
  JsonValue,
} from '../../context/policy/compaction-hook.ts';
import type { Entry } from '../../context/log/entry.ts';
import { quoteText } from '../../context/log/frames.ts';
import { textTokens } from '../../context/log/measure.ts';
import type { CompactionPlan, PlanResult } from '../../context/plan/plan.ts';
import { untilAborted } from '../../models/protocols/until-aborted.ts';
import { readOriginals } from '../../store/compactions/originals.ts';
import { readPreviousSummary, NO_HOOK } from '../../store/compactions/compactions.ts';
import { recordEvent, recordEventOnce } from '../../store/log/events.ts';
import { countHooksAsked } from '../../store/turns/activity-failures.ts';
import type { HookData } from '../../store/compactions/compactions.ts';
import type { CompactContextInput } from '../../turn/activity-values.ts';
import { retryDelayMilliseconds } from '../../turn/limits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { retryableFailure } from '../runtime/failures.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { checkView, compactionReason, resumePlan, storeDuePlan } from './compact-context.ts';
import type { CheckedContext, DuePlan } from './compact-context.ts';
import { makePlan, readFit } from './plan-compaction.ts';
import type { CountedFit } from './plan-compaction.ts';
import { declineCompaction } from '../../store/messages/waiting.ts';
import { keepLedger } from './finished-summary.ts';

/**
 * Asks the hooks of the application, on the queue of model calls, because they may ask a model and take minutes. Plans what `compactContext`
 * planned and stores the plan with the hooks' answers.
 */
export async function askHooks(
  dependencies: ActivityDependencies,
  input: CompactContextInput,
  execution: Execution,
): Promise<CheckedContext> {
  const { database } = dependencies;
  const { turn, callNumber, turnIsOver = false } = input;
  const check = await readFit(database, turn);
  const planned = await resumePlan(dependencies, check);
  if (planned !== null) return { kind: 'planned', planned };
  const due = await checkView(dependencies, input, { check, reason: compactionReason(dependencies, input, check) });
  if (due.kind !== 'due') return due;
  const { source, reason } = due;
  const planFrom = (keepFrom: number) => makePlan(dependencies, turn, { check, source, reason, turnIsOver, keepFrom });
  const decision = await decideByHooks(dependencies, input, { ...due, check, execution, planFrom });
  if (!decision.cancelled) return storeDuePlan(dependencies, input, check, { ...due, ...decision });
  if (reason === 'manual') {
    const { tokensBefore: tokens } = due.plan;
    const requests = check.compactRequests;
    await declineCompaction(database, turn, { requests, reason: 'cancelled_by_hook', tokens });
  }
  await recordEventOnce(database, { turn, kind: 'compaction_cancelled', callNumber, data: { reason } });
  return due.fits;
}

type HookedPlan =
  | { readonly cancelled: true }
  | { readonly cancelled: false; readonly plan: CompactionPlan; readonly hook: HookData };

type HookedCall = Pick<CompactContextInput, 'turn' | 'callNumber'>;

interface Pass extends DuePlan {
  readonly check: CountedFit;
  readonly execution: Execution;
  /** Plans again with another first entry that stays. */
  readonly planFrom: (sequence: number) => Promise<PlanResult>;
}

/** Askings of the hooks. One whose worker died counts as a failure too. */
const MOST_ASKINGS = 3;

/**
 * Asks the hooks in order what to do with a planned summary. The first that cancels or supplies a summary decides; the lines of all are
 * combined. Hooks are not asked about a compaction without a summary. A hook that fails three times is skipped.
 * @throws the signal's reason as soon as it is aborted, whatever a hook does then; the error of a hook that failed once or twice
 */
async function decideByHooks(dependencies: ActivityDependencies, call: HookedCall, pass: Pass): Promise<HookedPlan> {
  const { plan, execution } = pass;
  const { signal } = execution;
  const { beforeCompaction, database } = dependencies;
  if (plan.parts.length === 0) return { cancelled: false, plan, hook: NO_HOOK };
  const { conversationId } = call.turn;
  const asking = await countHooksAsked(database, { ...execution, conversationId });
  if (asking > MOST_ASKINGS) {
    await tellSkipped(dependencies, call, 'interrupted');
    return { cancelled: false, plan, hook: NO_HOOK };
  }
  const preparation = await prepare(dependencies, call.turn, pass);
  const prepend: string[] = [];
  const append: string[] = [];
  let details: JsonValue | undefined;
  for (const hook of beforeCompaction) {
    const decision = await ask(dependencies, call, () => hook(preparation, { signal }), { signal, asking });
    if (decision?.cancel === true) return { cancelled: true };
    prepend.push(...(decision?.contextLines?.prepend ?? []));
    append.push(...(decision?.contextLines?.append ?? []));
    details = decision?.details ?? details;
    if (decision?.summary !== undefined && decision.summary.trim() !== '') {
      const summary = quoteText(decision.summary);
      const hookData = { ...(details !== undefined && { details }), contextLines: { prepend, append }, summary };
      const chosen = await planKeeping(pass, decision.firstKeptEntryId);
      return { cancelled: false, plan: withSummary(chosen, summary), hook: hookData };
    }
  }
  const hook = { ...(details !== undefined && { details }), contextLines: { prepend, append }, summary: null };
  return { cancelled: false, plan, hook };
}

async function ask(
  dependencies: ActivityDependencies,
  call: HookedCall,
  hook: () => ReturnType<BeforeCompaction>,
  { signal, asking }: { readonly signal: AbortSignal; readonly asking: number },
): Promise<CompactionDecision | undefined> {
  try {
    return await untilAborted(Promise.resolve(hook()), signal);
  } catch (error) {
    signal.throwIfAborted();
    // Only the kind of error, because its message may quote the conversation.
    const code = error instanceof Error ? error.name : 'unknown';
    if (asking < MOST_ASKINGS)
      throw retryableFailure(`Hook.${code}`, 'a beforeCompaction hook failed', retryDelayMilliseconds(asking));
    await tellSkipped(dependencies, call, code);
    return undefined;
  }
}

async function tellSkipped(
  { database }: ActivityDependencies,
  { turn, callNumber }: HookedCall,
  code: string,
): Promise<void> {
  await recordEvent(database, { turn, kind: 'compaction_hook_skipped', data: { callNumber, code } });
}

/** Plans again for the entries that a hook wants to keep. A choice that saves nothing, or an unknown entry, changes nothing. */
async function planKeeping({ source, plan, planFrom }: Pass, entryId: string | undefined): Promise<CompactionPlan> {
  const entry = [...source.entries].find(({ id }) => id === entryId);
  if (entry === undefined || entry.sequence === plan.firstKeptSequence) return plan;
  const result = await planFrom(entry.sequence);
  return result.kind === 'planned' && result.plan.parts.length > 0 ? result.plan : plan;
}

/** The plan with one part, which is written already. */
function withSummary(plan: CompactionPlan, summary: string): CompactionPlan {
  const from = plan.parts.find((part) => part.fromSequence !== undefined)?.fromSequence ?? 1;
  const to = plan.parts.findLast((part) => part.toSequence !== undefined)?.toSequence ?? from;
  const tokens = textTokens(summary);
  const part = { number: 1, wave: 1, kind: 'history', fromSequence: from, toSequence: to, inputTokens: 0 } as const;
  return { ...plan, parts: [{ ...part, maximumOutput: tokens }], summaryLimit: tokens };
}

async function prepare(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  { check, source, plan, reason }: Pass,
): Promise<CompactionPreparation> {
  const { database } = dependencies;
  const { conversationId, turnId } = turn;
  const previous = await readPreviousSummary(database, source.summary?.compactionId ?? null);
  const reading = plan.parts.filter((part) => part.fromSequence !== undefined);
  const entriesToSummarize: Entry[] = [];
  for (const { fromSequence = 0, toSequence = 0 } of reading) {
    const range = { conversationId, headEntryId: source.headEntryId, fromSequence, toSequence };
    for await (const page of readOriginals(database, range)) entriesToSummarize.push(...page);
  }
  const kept = [...source.entries].find((entry) => entry.sequence === plan.firstKeptSequence);
  return {
    conversationId,
    turnId,
    reason,
    preset: check.policy.name,
    firstKeptEntryId: kept?.id ?? null,
    entriesToSummarize,
    previousSummary: previous?.text ?? null,
    previousDetails: previous?.details ?? null,
    tokensBefore: plan.tokensBefore,
    files: await keepLedger(database, {
      conversationId,
      headEntryId: source.headEntryId,
      plan,
      previous,
      policy: check.policy,
    }),
  };
}
