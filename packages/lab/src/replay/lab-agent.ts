import { budgetFor } from 'holdfast/internal/context/policy/budget.js';
import { fixedMeasurements } from 'holdfast/internal/context/view/system-text.js';
import type { Measurements } from 'holdfast/internal/context/log/measurements.js';
import type { Budget, ModelLimits } from 'holdfast/internal/context/plan/plan.js';
import type { CompactionPolicy } from 'holdfast/internal/context/policy/policy.js';
import type { AgentView } from 'holdfast/internal/context/view/view.js';
import type { ModelClient } from 'holdfast/internal/models/model-client.js';
import type { ModelPrices } from 'holdfast/internal/turn/agent-snapshot.js';

/** The model that writes the summaries of a replay. */
export interface LabSummarizer {
  /** `provider/model`. */
  readonly model: string;
  readonly limits: ModelLimits;
  /** By which its calls are priced. */
  readonly prices: ModelPrices;
  readonly client: ModelClient;
  /** It stands for the agent's own model, so that it may be asked behind the agent's last request. */
  readonly isAgentsOwn: boolean;
}

/** What one replay runs under: the part of a turn's agent snapshot that the pipeline reads. */
export interface LabAgent {
  readonly view: AgentView;
  readonly fixed: Measurements;
  readonly policy: CompactionPolicy;
  readonly limits: ModelLimits;
  readonly budget: Budget;
  readonly prices: ModelPrices;
  readonly summarizer: LabSummarizer;
}

export function createLabAgent(of: Omit<LabAgent, 'fixed' | 'budget'>): LabAgent {
  return { ...of, fixed: fixedMeasurements(of.view), budget: budgetFor(of.policy, of.limits) };
}
