import type { Entry } from 'holdfast/internal/context/log/entry.js';
import { NO_CALIBRATION } from 'holdfast/internal/context/log/estimate.js';
import { partPolicy } from 'holdfast/internal/context/summary/check-summary.js';
import { sharedSummaryView, summaryView } from 'holdfast/internal/context/summary/summary-request.js';
import type { SummaryRequest } from 'holdfast/internal/context/summary/summary-request.js';
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
  /** What the user asked before them. */
  readonly request: readonly Entry[];
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
  // Nothing is reported until a call has shown the newest compaction: until then no cache has the view.
  const shared =
    agent.summarizer.isAgentsOwn && conversation.reported !== null
      ? sharedSummaryView({
          ...common,
          plan,
          reason: of.reason,
          failures: of.failures,
          summarizer: agent.limits,
          calibration: conversation.calibration(agent.fixed),
          shown: conversation.projectionInput(agent),
          fixed: agent.fixed,
          thinkingRoom: 0,
        })
      : null;
  if (shared !== null) return { ...shared, kind: 'shared_prefix', cached: Math.min(of.cached(), shared.sharedTokens) };
  const request = summaryView({
    ...common,
    entries: [...of.request, ...entries],
    previousSummary: previous,
    partTexts: part.kind === 'merge' ? before.map(({ kind, text }) => ({ kind, text: text ?? '' })) : [],
    summarizer: agent.summarizer.limits,
    calibration: NO_CALIBRATION,
    shorter: plan.form === 'shorter_summary',
  });
  return { ...request, kind: 'transcript', cached: 0 };
}
