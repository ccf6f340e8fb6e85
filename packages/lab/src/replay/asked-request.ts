import type { Entry } from 'holdfast/internal/context/log/entry.js';
import { NO_CALIBRATION } from 'holdfast/internal/context/log/estimate.js';
import { partPolicy } from 'holdfast/internal/context/policy/part-policy.js';
import { summaryView } from 'holdfast/internal/context/summary/summary-request.js';
import type { SummaryRequest } from 'holdfast/internal/context/summary/summary-request.js';
import type { LabAgent } from './lab-agent.ts';
import type { PartToWrite } from './summarize-part.ts';

interface PartToAsk extends PartToWrite {
  readonly entries: readonly Entry[];
  /** Text of the summary in force. */
  readonly previous: string | null;
}

/** A request for a summary, as the activity `summarize` makes it. */
export function askedRequest(agent: LabAgent, { plan, part, entries, previous, before }: PartToAsk): SummaryRequest {
  return summaryView({
    policy: partPolicy(agent.policy, part),
    parts: plan.parts,
    part,
    entries,
    focus: null,
    agent: agent.view,
    turnIsOpen: plan.insideTurn,
    previousSummary: previous,
    partTexts: part.kind === 'merge' ? before.map(({ kind, text }) => ({ kind, text: text ?? '' })) : [],
    summarizer: agent.summarizer.limits,
    calibration: NO_CALIBRATION,
    shorter: plan.form === 'shorter_summary',
  });
}
