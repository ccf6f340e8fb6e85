/** What a limit can be set for. Times in seconds, cost in dollars. */
export const COUNTED = ['steps', 'toolCalls', 'inputTokens', 'outputTokens', 'cost', 'wallTime'] as const;

export type Counted = (typeof COUNTED)[number];

export type Counts = Readonly<Record<Counted, number>>;

/** Part of a limit from which on the model is told what is left. */
export const DEFAULT_NOTE_AT = 0.8;

/** What a turn, and all turns of its conversation together, may use. What is absent has no limit. */
export interface SpendingLimits {
  readonly turn: Partial<Counts>;
  readonly conversation: Partial<Counts>;
  /** Seconds without an answer of the model, a tool's result or a message, waits for people not counted. */
  readonly idleTime?: number;
  /** Between 0 and 1. */
  readonly noteAt: number;
}

export interface Spending {
  readonly turn: Counts;
  readonly conversation: Counts;
}

/** A limit and how much of it is used. */
export interface LimitUse {
  readonly scope: keyof Spending;
  readonly counted: Counted;
  readonly used: number;
  readonly limit: number;
}

/** Every limit with what is used of it, in a fixed order. */
export function limitUses(limits: SpendingLimits, used: Spending): LimitUse[] {
  return (['turn', 'conversation'] as const).flatMap((scope) =>
    COUNTED.flatMap((counted) => {
      const limit = limits[scope][counted];
      return limit === undefined ? [] : [{ scope, counted, used: used[scope][counted], limit }];
    }),
  );
}

/** The limit that keeps the turn from its next step, or `null`. */
export function spentLimit(limits: SpendingLimits, used: Spending): LimitUse | null {
  return limitUses(limits, used).find((use) => use.used >= use.limit) ?? null;
}

/** Limits of which the model must be told. */
export function nearLimits(limits: SpendingLimits, used: Spending): LimitUse[] {
  return limitUses(limits, used).filter((use) => use.used >= use.limit * limits.noteAt);
}

const CODES: Readonly<Record<Counted, string>> = {
  steps: 'step_limit',
  toolCalls: 'tool_call_limit',
  inputTokens: 'input_token_limit',
  outputTokens: 'output_token_limit',
  cost: 'cost_limit',
  wallTime: 'wall_time_limit',
};

/** The reason of the outcome `budget_exhausted`: `cost_limit`, `conversation_cost_limit` … */
export function limitCode({ scope, counted }: Pick<LimitUse, 'scope' | 'counted'>): string {
  return scope === 'turn' ? CODES[counted] : `conversation_${CODES[counted]}`;
}

/** What a reason names; `null`: it is of another kind. */
export function countedOf(reason: string): Counted | null {
  return COUNTED.find((counted) => reason === CODES[counted] || reason === `conversation_${CODES[counted]}`) ?? null;
}

/**
 * The limits of a turn that goes on where another ended: what that one left, and what the user added. Its own counts begin
 * at 0, so the two together may use no more than the first's limits and the raise.
 */
export function resumedLimits(limits: Partial<Counts>, used: Counts, raise: Partial<Counts>): Partial<Counts> {
  return Object.fromEntries(
    COUNTED.flatMap((counted) => {
      const limit = limits[counted];
      return limit === undefined ? [] : [[counted, Math.max(0, limit - used[counted]) + (raise[counted] ?? 0)]];
    }),
  );
}

/** Raises of a conversation's own limits stand for all its later turns. */
export function raisedLimits(limits: Partial<Counts>, raise: Partial<Counts>): Partial<Counts> {
  return Object.fromEntries(
    COUNTED.flatMap((counted) => {
      const limit = limits[counted];
      return limit === undefined ? [] : [[counted, limit + (raise[counted] ?? 0)]];
    }),
  );
}

/** What the model is told before its next step. */
export function describeLimit({ scope, counted, used, limit }: LimitUse): string {
  const whose = scope === 'turn' ? 'This turn' : 'This conversation';
  return `[Limit]\n${whose} has used ${number(counted, used)} of ${amount(counted, limit)}. At the limit it ends at once, so finish what matters most, and say what is left open.`;
}

const UNITS: Readonly<Record<Exclude<Counted, 'cost' | 'wallTime'>, string>> = {
  steps: 'steps',
  toolCalls: 'tool calls',
  inputTokens: 'input tokens',
  outputTokens: 'output tokens',
};

function amount(counted: Counted, value: number): string {
  if (counted === 'cost') return number(counted, value);
  return `${number(counted, value)} ${counted === 'wallTime' ? 's' : UNITS[counted]}`;
}

function number(counted: Counted, value: number): string {
  return counted === 'cost' ? `$${value.toFixed(2)}` : String(Math.round(value));
}
