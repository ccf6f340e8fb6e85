import { LINES } from '../context/log/frames.ts';

/** What a limit can be set for. Times in seconds, cost in dollars. */
export const COUNTED = ['steps', 'toolCalls', 'inputTokens', 'outputTokens', 'cost', 'wallTime'] as const;

export type Counted = (typeof COUNTED)[number];

export type Counts = Readonly<Record<Counted, number>>;

/** The same for a conversation, with `idleTime`: the rest since the model's last answer before a turn. A raise can name each. */
export const COUNTED_OF_CONVERSATION = [...COUNTED, 'idleTime'] as const;

export type CountedOfConversation = (typeof COUNTED_OF_CONVERSATION)[number];

export type ConversationCounts = Readonly<Record<CountedOfConversation, number>>;

/** Part of a limit at which the model is told what is left. */
export const DEFAULT_NOTE_AT = 0.8;

/** What a turn, and all turns of its conversation together, may use. An absent limit is none. */
export interface SpendingLimits {
  readonly turn: Partial<Counts>;
  readonly conversation: Partial<ConversationCounts>;
  /** Seconds without an answer of the model, a tool's result or a message. Waits for people do not count. */
  readonly idleTime?: number;
  /** Between 0 and 1. */
  readonly noteAt: number;
}

export interface Spending {
  readonly turn: Counts;
  readonly conversation: ConversationCounts;
}

/** A limit and how much of it is used. */
export interface LimitUse {
  readonly scope: keyof Spending;
  readonly counted: CountedOfConversation;
  readonly used: number;
  readonly limit: number;
}

/** Every limit with its use, in a fixed order. */
export function limitUses(limits: SpendingLimits, used: Spending): LimitUse[] {
  const ofTurn = COUNTED.flatMap((counted) => useOf('turn', counted, used.turn[counted], limits.turn[counted]));
  const ofConversation = COUNTED_OF_CONVERSATION.flatMap((counted) =>
    useOf('conversation', counted, used.conversation[counted], limits.conversation[counted]),
  );
  return [...ofTurn, ...ofConversation];
}

function useOf(
  scope: keyof Spending,
  counted: CountedOfConversation,
  used: number,
  limit: number | undefined,
): LimitUse[] {
  return limit === undefined ? [] : [{ scope, counted, used, limit }];
}

/** The limit that keeps the turn from its next step, or `null`. */
export function spentLimit(limits: SpendingLimits, used: Spending): LimitUse | null {
  return limitUses(limits, used).find((use) => use.used >= use.limit) ?? null;
}

/** Limits that the model must be told about. Not idle time, which is over when the model could read of it. */
export function nearLimits(limits: SpendingLimits, used: Spending): LimitUse[] {
  return limitUses(limits, used).filter((use) => use.counted !== 'idleTime' && use.used >= use.limit * limits.noteAt);
}

/** Whether only the steps of a turn are limited. */
export function isOfSteps({ turn, conversation }: SpendingLimits): boolean {
  const { steps: _, ...others } = turn;
  return Object.keys(others).length + Object.keys(conversation).length === 0;
}

const NOTHING_USED: Counts = { steps: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, cost: 0, wallTime: 0 };

/** Spending of a turn of which only the steps are known. */
export function stepsUsed(steps: number): Spending {
  return { turn: { ...NOTHING_USED, steps }, conversation: { ...NOTHING_USED, idleTime: 0 } };
}

/** Whether the turn has a limit of time, which a timer watches while it works. */
export function isTimed({ turn, conversation, idleTime }: SpendingLimits): boolean {
  return [turn.wallTime, conversation.wallTime, idleTime].some((limit) => limit !== undefined);
}

/** What a turn has used of its time, in seconds. */
export interface TimeUse {
  readonly turn: number;
  readonly conversation: number;
  /** Seconds since the model answered, a tool ended, a message came or a person decided. */
  readonly idle: number;
}

/** The limit of time that comes first, the turn's own before the conversation's: its outcome reason, and seconds until then. */
export function nextTimeLimit(
  limits: SpendingLimits,
  used: TimeUse,
): { readonly reason: string; readonly left: number } {
  const all = [
    { reason: CODES.wallTime, left: (limits.turn.wallTime ?? Infinity) - used.turn },
    { reason: `conversation_${CODES.wallTime}`, left: (limits.conversation.wallTime ?? Infinity) - used.conversation },
    { reason: CODES.idleTime, left: (limits.idleTime ?? Infinity) - used.idle },
  ];
  return all.reduce((first, next) => (next.left < first.left ? next : first));
}

/**
 * How many tool calls of an answer may run, and the limit that keeps the others from running.
 * @param used including these calls
 */
export function runnableCalls(
  limits: SpendingLimits,
  used: Spending,
  asked: number,
): { readonly runnable: number; readonly limit: string | null } {
  const over = (scope: keyof Spending): number => used[scope].toolCalls - (limits[scope].toolCalls ?? Infinity);
  const scope = over('turn') >= over('conversation') ? 'turn' : 'conversation';
  if (over(scope) <= 0) return { runnable: asked, limit: null };
  return { runnable: Math.max(0, asked - over(scope)), limit: limitCode({ scope, counted: 'toolCalls' }) };
}

const CODES: Readonly<Record<CountedOfConversation, string>> = {
  steps: 'step_limit',
  toolCalls: 'tool_call_limit',
  inputTokens: 'input_token_limit',
  outputTokens: 'output_token_limit',
  cost: 'cost_limit',
  wallTime: 'wall_time_limit',
  idleTime: 'idle_time_limit',
};

/** The reason of the outcome `budget_exhausted`: `cost_limit`, `conversation_cost_limit` … */
export function limitCode({ scope, counted }: Pick<LimitUse, 'scope' | 'counted'>): string {
  return scope === 'turn' ? CODES[counted] : `conversation_${CODES[counted]}`;
}

/** The limit that must be raised. `null` if none: a turn's own idle time, for example, begins anew. */
export function countedOf(reason: string): CountedOfConversation | null {
  const ofConversation = COUNTED_OF_CONVERSATION.find((counted) => reason === `conversation_${CODES[counted]}`);
  return ofConversation ?? COUNTED.find((counted) => reason === CODES[counted]) ?? null;
}

/**
 * The limits of a turn that resumes another: what that one left, plus the raise. Its own counts begin at 0, so both together use at most
 * the first limits and the raise. Limits that were added or lowered since apply as to any turn. Limits that were raised or removed since
 * do not change what is left.
 * @param ended `configured`: limits at its beginning, without raises
 */
export function resumedLimits(
  configured: Partial<Counts>,
  ended: { readonly limits: Partial<Counts>; readonly used: Counts; readonly configured: Partial<Counts> },
  raise: Partial<Counts>,
): Partial<Counts> {
  return Object.fromEntries(
    COUNTED.flatMap((counted) => {
      const limit = ended.limits[counted];
      const left = limit === undefined ? Infinity : Math.max(0, limit - ended.used[counted]);
      const now = configured[counted] ?? Infinity;
      const least = now < (ended.configured[counted] ?? Infinity) ? Math.min(left, now) : left;
      return least === Infinity ? [] : [[counted, least + (raise[counted] ?? 0)]];
    }),
  );
}

/** Raises of a conversation's own limits apply to all its later turns. */
export function raisedLimits(
  limits: Partial<ConversationCounts>,
  raise: Partial<ConversationCounts>,
): Partial<ConversationCounts> {
  return Object.fromEntries(
    COUNTED_OF_CONVERSATION.flatMap((counted) => {
      const limit = limits[counted];
      return limit === undefined ? [] : [[counted, limit + (raise[counted] ?? 0)]];
    }),
  );
}

/** How the turn ended that another one resumes. */
export interface EndedSpending {
  /** Reason of its outcome `budget_exhausted`; `null` if no limit ended it. */
  readonly reason: string | null;
  readonly limits: Pick<SpendingLimits, 'turn' | 'conversation'>;
  readonly used: Spending;
}

/**
 * The part of a raise that applies to the conversation's limits for good: the limits that keep the conversation from going on. A raise of
 * other limits is for one turn only, or the conversation's limits would never bind. Idle time before a turn is always the conversation's.
 */
export function raiseOfConversation(
  { reason, limits: { conversation: limits }, used }: EndedSpending,
  raise: Partial<ConversationCounts>,
): Partial<ConversationCounts> {
  return Object.fromEntries(
    COUNTED_OF_CONVERSATION.flatMap((counted) => {
      const limit = limits[counted];
      const by = raise[counted];
      if (limit === undefined || by === undefined) return [];
      // Timers and the clock of Postgres differ, so a limit that ended a turn may seem not quite used up.
      const isReached = used.conversation[counted] >= limit || reason === limitCode({ scope: 'conversation', counted });
      return isReached || counted === 'idleTime' ? [[counted, by]] : [];
    }),
  );
}

/** The smallest raises without which a resumed turn would end at once. Idle time needs none, because a resume waives it. */
export function missingRaises(
  { reason, limits, used }: EndedSpending,
  raise: Partial<ConversationCounts>,
): Partial<Counts> {
  return Object.fromEntries(
    COUNTED.flatMap((counted) => {
      const ofTurn = limits.turn[counted];
      const ofConversation = limits.conversation[counted];
      // The next turn counts anew from what this one left, so any raise helps there.
      const isNeeded = countedOf(reason ?? '') === counted || (ofTurn !== undefined && used.turn[counted] >= ofTurn);
      const over = ofConversation === undefined ? -1 : used.conversation[counted] - ofConversation;
      if (!isNeeded && over < 0) return [];
      const mustExceed = Math.max(0, over);
      return (raise[counted] ?? 0) > mustExceed ? [] : [[counted, leastAbove(counted, mustExceed)]];
    }),
  );
}

/** Whole numbers; cents for dollars. */
function leastAbove(counted: Counted, value: number): number {
  return counted === 'cost' ? (Math.floor(value * 100) + 1) / 100 : Math.floor(value) + 1;
}

/** Whether a raise may have a fraction. */
export function isDivisible(counted: CountedOfConversation): boolean {
  return counted === 'cost' || counted === 'wallTime' || counted === 'idleTime';
}

/** The note to the model before its next step. */
export function describeLimit({ scope, counted, used, limit }: LimitUse): string {
  const whose = scope === 'turn' ? 'This turn' : 'This conversation';
  return `${LINES.limit}\n${whose} has used ${number(counted, used)} of ${amount(counted, limit)}. At the limit it ends at once, so finish what matters most, and say what is left open.`;
}

const UNITS: Readonly<Record<Exclude<CountedOfConversation, 'cost'>, string>> = {
  steps: 'steps',
  toolCalls: 'tool calls',
  inputTokens: 'input tokens',
  outputTokens: 'output tokens',
  wallTime: 's',
  idleTime: 's',
};

function amount(counted: CountedOfConversation, value: number): string {
  if (counted === 'cost') return number(counted, value);
  return `${number(counted, value)} ${UNITS[counted]}`;
}

function number(counted: CountedOfConversation, value: number): string {
  return counted === 'cost' ? `$${value.toFixed(2)}` : String(Math.round(value));
}
