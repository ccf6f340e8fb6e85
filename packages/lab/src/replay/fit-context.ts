import { commitCompaction } from 'holdfast/internal/activities/compaction/commit-compaction.js';
import { compactContext } from 'holdfast/internal/activities/compaction/compact-context.js';
import { summarize } from 'holdfast/internal/activities/compaction/summarize.js';
import { estimateTokens, NO_CALIBRATION } from 'holdfast/internal/context/log/estimate.js';
import { measureContent } from 'holdfast/internal/context/log/measure.js';
import type { CompactionForm, CompactionReason } from 'holdfast/internal/context/plan/plan.js';
import type { View } from 'holdfast/internal/context/view/view.js';
import { ModelCallError } from 'holdfast/internal/models/model-client.js';
import type { ModelClient, ReportedUsage } from 'holdfast/internal/models/model-client.js';
import { getCompaction } from 'holdfast/internal/store/compactions/compactions.js';
import type { CompactContextInput, PlannedCompaction } from 'holdfast/internal/turn/activity-values.js';
import { newExecution, withRetries } from './activities.ts';
import type { LabAgent } from './lab-agent.ts';
import type { ReplayedConversation } from './replayed-conversation.ts';

/** One call of the summarizing model, answered or not. */
export interface SummaryCall {
  /** `null` when nothing was reported: the call was refused. */
  readonly usage: ReportedUsage | null;
  /** It was refused, or its text did not pass its checks. */
  failed: boolean;
  /** Behind the agent's last request, or a request of its own. */
  readonly request: 'shared_prefix' | 'transcript';
}

/** A compaction that was committed. */
export interface LabPass {
  readonly reason: CompactionReason;
  readonly form: CompactionForm;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly parts: number;
  readonly operations: Readonly<Record<'clip' | 'clear' | 'strip', number>>;
  /** First entry kept verbatim; `null` when the cut stayed. */
  readonly firstKeptSequence: number | null;
}

export type FitResult =
  | { readonly kind: 'fits'; readonly tokens: number; readonly pass: LabPass | null }
  /** No form makes the view fit: a turn would end here. */
  | { readonly kind: 'exhausted' };

export interface Fitting {
  readonly forced: 'overflow' | null;
  readonly turnIsOver: boolean;
  /** Told before a planned compaction. Returns the tokens that a prompt cache has of the agent's request as it is now. */
  readonly planned: () => Promise<number>;
  readonly called: (call: SummaryCall) => void;
}

/** What the workflow does before a model call and, for some presets, after the last one: the same activities in the same order. */
export async function fitContext(
  agent: LabAgent,
  conversation: ReplayedConversation,
  fitting: Fitting,
): Promise<FitResult> {
  const { dependencies, turn, callNumber } = conversation;
  const { forced, turnIsOver } = fitting;
  const input: CompactContextInput = { turn, callNumber, forced, ...(turnIsOver && { turnIsOver }) };
  const check = await compactContext(dependencies, input, newExecution());
  if (check.kind === 'exhausted') return check;
  if (check.kind === 'fits') return { kind: 'fits', tokens: check.view.tokens, pass: null };
  if (check.kind !== 'planned') throw new TypeError(`a replay has neither limits nor hooks: ${check.kind}`);
  const cached = await fitting.planned();
  for (let { planned } = check; ;) {
    await summarizeWaves(agent, conversation, { planned, cached, called: fitting.called });
    const { compactionId } = planned;
    const commit = await commitCompaction(dependencies, { turn, compactionId });
    if (commit.kind === 'planned') ({ planned } = commit);
    else if (commit.kind === 'kept') return { kind: 'fits', tokens: commit.view.tokens, pass: null };
    else if (commit.kind === 'committed')
      return { kind: 'fits', tokens: commit.view.tokens, pass: await passOf(conversation, compactionId) };
    else return { kind: 'exhausted' };
  }
}

async function passOf({ database }: ReplayedConversation, compactionId: string): Promise<LabPass> {
  const { reason, form, tokensBefore, tokensAfter, plan } = await getCompaction(database, compactionId);
  const count = (kind: 'clip' | 'clear' | 'strip'): number =>
    plan.operations.filter((operation) => operation.kind === kind).length;
  return {
    reason,
    form,
    tokensBefore,
    tokensAfter: tokensAfter ?? tokensBefore,
    parts: plan.parts.length,
    operations: { clip: count('clip'), clear: count('clear'), strip: count('strip') },
    firstKeptSequence: plan.firstKeptSequence,
  };
}

interface PlanToSummarize extends Pick<Fitting, 'called'> {
  readonly planned: PlannedCompaction;
  readonly cached: number;
}

/** Wave by wave; after a part that failed for good the rest is not worth its price. */
async function summarizeWaves(
  agent: LabAgent,
  conversation: ReplayedConversation,
  { planned, cached, called }: PlanToSummarize,
): Promise<void> {
  const { dependencies, turn } = conversation;
  for (const wave of planned.waves) {
    const results = await Promise.all(
      wave.map(async ({ number: part }) => {
        const calls: SummaryCall[] = [];
        const modelClient = () => watchedClient(agent, cached, calls);
        const refused = (): void => calls.slice(-1).forEach((call) => (call.failed = true));
        const result = await withRetries(
          (execution) =>
            summarize({ ...dependencies, modelClient }, { turn, compactionId: planned.compactionId, part }, execution),
          refused,
        );
        if (result.kind === 'failed') refused();
        calls.forEach(called);
        return result;
      }),
    );
    if (results.some(({ kind }) => kind === 'failed')) return;
  }
}

/** The message behind a shared request, which the cache cannot have. */
function orderTokens({ messages }: View): number {
  const last = messages.at(-1);
  return last?.role === 'user' ? estimateTokens(measureContent(last.content), NO_CALIBRATION) : 0;
}

/** Nobody made the agent's last request, so what the cache would have of it is reckoned; a transcript is in no cache. */
function watchedClient({ summarizer }: LabAgent, cached: number, calls: SummaryCall[]): ModelClient {
  return {
    async answer(asked, options) {
      // Only the agent's own request offers tools.
      const request = asked.view.tools.length > 0 ? 'shared_prefix' : 'transcript';
      try {
        const answer = await summarizer.client.answer(asked, options);
        const { usage } = answer;
        const mayRead = request === 'shared_prefix' && summarizer.prices.cacheRead !== null;
        const cacheRead = mayRead ? Math.min(cached, Math.max(0, (usage?.input ?? 0) - orderTokens(asked.view))) : 0;
        const cacheWrite = request === 'shared_prefix' ? (usage?.input ?? 0) - cacheRead : 0;
        calls.push({ usage: usage === undefined ? null : { ...usage, cacheRead, cacheWrite }, failed: false, request });
        return answer;
      } catch (error) {
        if (error instanceof ModelCallError) calls.push({ usage: null, failed: true, request });
        throw error;
      }
    },
  };
}
