import { LINES } from '../context/log/frames.ts';

/** What a limit can be set for. Times in seconds, cost in dollars. */
export const COUNTED = ['steps', 'toolCalls', 'inputTokens', 'outputTokens', 'cost', 'wallTime'] as const;

export type Counted = (typeof COUNTED)[number];

export type Counts = Readonly<Record<Counted, number>>;

/** The same for a conversation, and the rest before a turn: since the model's last answer. What a raise can name. */
export const COUNTED_OF_CONVERSATION = [...COUNTED, 'idleTime'] as const;

export type CountedOfConversation = (typeof COUNTED_OF_CONVERSATION)[number];

export type ConversationCounts = Readonly<Record<CountedOfConversation, number>>;

/** Part of a limit from which on the model is told what is left. */
export const DEFAULT_NOTE_AT = 0.8;

/** What a turn, and all turns of its conversation together, may use. What is absent has no limit. */
export interface SpendingLimits {
  readonly turn: Partial<Counts>;
  readonly conversation: Partial<ConversationCounts>;
  /** Seconds without an answer of the model, a tool's result or a message, waits for people not counted. */
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

/** Every limit with what is used of it, in a fixed order. */
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

/** Limits of which the model must be told. A rest is over when it could be. */
export function nearLimits(limits: SpendingLimits, used: Spending): LimitUse[] {
  return limitUses(limits, used).filter((use) => use.counted !== 'idleTime' && use.used >= use.limit * limits.noteAt);
}

/** Nothing but the steps of a turn is limited. */
export function isOfSteps({ turn, conversation }: SpendingLimits): boolean {
  const { steps: _, ...others } = turn;
  return Object.keys(others).length + Object.keys(conversation).length === 0;
}

const NOTHING_USED: Counts = { steps: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, cost: 0, wallTime: 0 };

/** Where only the steps of the turn are known. */
export function stepsUsed(steps: number): Spending {
  return { turn: { ...NOTHING_USED, steps }, conversation: { ...NOTHING_USED, idleTime: 0 } };
}

/** Limits of time, which a timer watches while a turn works. What is absent has no limit. */
export function isTimed({ turn, conversation, idleTime }: SpendingLimits): boolean {
  return [turn.wallTime, conversation.wallTime, idleTime].some((limit) => limit !== undefined);
}

/** What a turn has used of its time, in seconds. */
export interface TimeUse {
  readonly turn: number;
  readonly conversation: number;
  /** Since the model answered, a tool ended, a message came or a person decided. */
  readonly idle: number;
}

/** The limit of time that comes first, of several at once the turn's own: a reason of `budget_exhausted`, and seconds until then. */
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
 * How many of an answer's tool calls may run, and the limit that keeps the others from it.
 * @param used with these calls
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

/** What a reason names that must be raised; `null`: it is of another kind, as a turn's own idle time, which begins anew. */
export function countedOf(reason: string): CountedOfConversation | null {
  const ofConversation = COUNTED_OF_CONVERSATION.find((counted) => reason === `conversation_${CODES[counted]}`);
  return ofConversation ?? COUNTED.find((counted) => reason === CODES[counted]) ?? null;
}

/**
 * The limits of a turn that goes on where another ended: what that one left, and what the user added. Its own counts begin
 * at 0, so the two together may use no more than the first's limits and the raise. What was configured or lowered since holds it
 * as any turn that begins; what is higher or gone since changes nothing of what is left.
 * @param ended `configured`: what was configured when it began, raises not counted
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

/** Raises of a conversation's own limits stand for all its later turns. */
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

/** How a turn ended that another one is to go on from. */
export interface EndedSpending {
  /** Of its outcome `budget_exhausted`; `null`: no limit ended it. */
  readonly reason: string | null;
  readonly limits: Pick<SpendingLimits, 'turn' | 'conversation'>;
  readonly used: Spending;
}

/**
 * What of a raise counts for the conversation's limits, for good: what keeps the conversation from going on. Of other limits it
 * is the turn's alone, or the conversation's would never bind. A rest before a turn is the conversation's in any case.
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
      // Timers and the clock of Postgres differ: what ended a turn may be less than used up.
      const isReached = used.conversation[counted] >= limit || reason === limitCode({ scope: 'conversation', counted });
      return isReached || counted === 'idleTime' ? [[counted, by]] : [];
    }),
  );
}

/**
 * The smallest raises without which a turn that goes on would end at once, of what is not raised by enough. A rest needs none: who
 * resumes has said that the conversation goes on.
 */
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

/** In whole numbers; of dollars, cents. */
function leastAbove(counted: Counted, value: number): number {
  return counted === 'cost' ? (Math.floor(value * 100) + 1) / 100 : Math.floor(value) + 1;
}

/** Whether a raise can be a part of one. */
export function isDivisible(counted: CountedOfConversation): boolean {
  return counted === 'cost' || counted === 'wallTime' || counted === 'idleTime';
}

/** What the model is told before its next step. */
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
