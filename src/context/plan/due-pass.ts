import type { Budget, CompactionReason, CountedRequest } from './plan.ts';
import type { CompactionPolicy } from '../policy/policy.ts';

/** Why a pass is made now; `null`: none is. */
export function passReason(of: {
  readonly forced: Extract<CompactionReason, 'overflow' | 'manual'> | null;
  readonly turnIsOver: boolean;
  readonly policy: Pick<CompactionPolicy, 'reduceAfterTurn'>;
  readonly counted: Pick<CountedRequest, 'isDue'>;
}): CompactionReason | null {
  const { forced, turnIsOver, policy, counted } = of;
  if (forced !== null) return forced;
  if (counted.isDue) return 'threshold';
  return turnIsOver && policy.reduceAfterTurn ? 'maintenance' : null;
}

/** Nothing can be made smaller, but the request still fits the window: the model is called, and the provider has the last word. */
export function mayGoOn(
  reason: CompactionReason | null,
  tokens: number,
  { inputBudget }: Pick<Budget, 'inputBudget'>,
): boolean {
  return reason !== 'overflow' && tokens <= inputBudget;
}
