import { budgetFor } from '../../context/policy/budget.ts';
import { fixedMeasurements } from '../../context/log/fixed-measurements.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import type { Budget, ModelLimits } from '../../context/plan/plan.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import type { AgentView } from '../../context/view/view.ts';
import type { ModelClient } from '../../models/model-client.ts';
import type { ModelPrices } from '../../turn/agent-snapshot.ts';

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
