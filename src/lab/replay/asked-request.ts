import type { Entry } from '../../context/log/entry.ts';
import { estimateTokens, NO_CALIBRATION } from '../../context/log/estimate.ts';
import { addMeasurements } from '../../context/log/measurement-arithmetic.ts';
import { partPolicy } from '../../context/policy/part-policy.ts';
import { projectChecked } from '../../context/plan/check-pinned.ts';
import { maySharePrefix, sharedSummaryView } from '../../context/summary/shared-summary-request.ts';
import { summaryView } from '../../context/summary/summary-request.ts';
import type { SummaryRequest, SummaryRequestInput } from '../../context/summary/summary-request.ts';
import type { LabAgent } from './lab-agent.ts';
import type { LabConversation } from './lab-conversation.ts';
import type { PartToWrite } from './summarize-part.ts';

/** A request for a summary, and how it is made. */
export interface AskedRequest extends SummaryRequest {
  readonly kind: 'shared_prefix' | 'transcript';
  /** Tokens that a prompt cache has of it. */
  readonly cached: number;
}

interface PartToAsk extends PartToWrite {
  readonly entries: readonly Entry[];
  /** Text of the summary in force. */
  readonly previous: string | null;
  /** Of the model, with this part. */
  readonly failures: number;
}

/** Behind the last request where a turn would ask so, otherwise with a transcript; what the activity `summarize` chooses. */
export function askedRequest(agent: LabAgent, conversation: LabConversation, of: PartToAsk): AskedRequest {
  const { plan, part, entries, previous, before } = of;
  const common = {
    policy: partPolicy(agent.policy, part),
    parts: plan.parts,
    part,
    entries,
    focus: null,
    agent: agent.view,
    turnIsOpen: plan.insideTurn,
  };
  const shared = sharedRequest(agent, conversation, { of, common });
  if (shared !== null) return { ...shared, kind: 'shared_prefix', cached: of.cached() };
  const request = summaryView({
    ...common,
    previousSummary: previous,
    partTexts: part.kind === 'merge' ? before.map(({ kind, text }) => ({ kind, text: text ?? '' })) : [],
    summarizer: agent.summarizer.limits,
    calibration: NO_CALIBRATION,
    shorter: plan.form === 'shorter_summary',
  });
  return { ...request, kind: 'transcript', cached: 0 };
}

type CommonInput = Pick<
  SummaryRequestInput,
  'policy' | 'parts' | 'part' | 'entries' | 'focus' | 'agent' | 'turnIsOpen'
>;

function sharedRequest(
  agent: LabAgent,
  conversation: LabConversation,
  { of, common }: { readonly of: PartToAsk; readonly common: CommonInput },
): SummaryRequest | null {
  const { plan, part, reason, failures } = of;
  const { policy, parts } = common;
  // Nothing is reported until a call has shown the newest compaction: until then no cache has the view.
  if (!agent.summarizer.isAgentsOwn || conversation.reported === null) return null;
  if (!maySharePrefix({ policy, form: plan.form, reason, parts, part, failures })) return null;
  const calibration = conversation.calibration(agent.fixed);
  const shown = conversation.projectionInput(agent);
  return sharedSummaryView({
    ...common,
    summarizer: agent.limits,
    calibration,
    view: projectChecked(shown),
    viewTokens: estimateTokens(addMeasurements(conversation.view, agent.fixed), calibration),
    shown: shown.entries,
    operations: shown.operations,
    firstKeptSequence: plan.firstKeptSequence ?? Infinity,
    thinkingRoom: 0,
  });
}
