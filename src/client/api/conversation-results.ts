import { z } from 'zod';
import type { WindowBreakdown, WindowFill } from '../../context/plan/plan.ts';

// What the client answers about conversations, turns and what waits in them: the types of the library, of the routes and of the reference.

export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int();
export const isoTime = z.string().meta({ format: 'date-time' });

export const sentMessage = z
  .object({
    conversationId: z.string(),
    messageId: z.string(),
    /** True if the same id and content were sent before. Then nothing was written. */
    duplicate: z.boolean(),
  })
  .meta({ id: 'SentMessage' });

export const servedCommand = z
  .object({
    turnId: z.null(),
    state: z.literal('served'),
    outcome: z.literal('nothing_to_do'),
    reason: z.null(),
    /** One sentence for a person. */
    explanation: z.string(),
    text: z.literal(''),
  })
  .meta({ id: 'ServedCommand' });

/** Tokens by kind of content. */
export const windowFill = z
  .object({
    fixed: count,
    summary: count,
    userMessages: count,
    assistantMessages: count,
    toolResults: count,
    notes: count,
  })
  .meta({ id: 'WindowFill' }) satisfies z.ZodType<WindowFill>;

/** Tokens of the window by kind. */
export const windowBreakdown = windowFill
  .extend({
    total: count,
    inputBudget: count,
    window: count,
  })
  .meta({ id: 'WindowBreakdown' }) satisfies z.ZodType<WindowBreakdown>;

const outcome = z.enum([
  'completed',
  'stopped',
  'budget_exhausted',
  'context_exhausted',
  'model_failed',
  'refused',
  'interrupted',
]);

export const turnSummary = z
  .object({
    turnId: z.string(),
    state: z.enum([
      'running',
      'waiting_for_approval',
      'waiting_for_answer',
      'waiting_for_rate_limit',
      'waiting_for_worker',
      'ended',
    ]),
    outcome: outcome.nullable(),
    /** Code of what led to the outcome. */
    reason: z.string().nullable(),
    /** One sentence for a person: what happened and what can be done next. */
    explanation: z.string().nullable(),
    /** In force: the agent's own, or a fallback. */
    model: z.string(),
    preset: z.string(),
    /** Models that a fallback replaced, oldest first. */
    givenUp: listOf(z.object({ model: z.string(), callNumber: count, reason: z.string() })),
    /** It only carried out a command, such as a compaction of an idle conversation. */
    commandOnly: z.boolean(),
    /** It took a message of the user. */
    tookMessages: z.boolean(),
    steps: count,
    modelCalls: count,
    compactions: count,
    overflows: count,
    usage: z.object({ input: count, cacheRead: count, cacheWrite: count, output: count }),
    /** Dollars; `null` when a price is unknown. */
    cost: z.number().nullable(),
    startedAt: isoTime,
    endedAt: isoTime.nullable(),
    /** What filled the window when the outcome is `context_exhausted`. */
    breakdown: windowBreakdown.nullable(),
  })
  .meta({ id: 'TurnSummary' });

export const endedTurn = turnSummary
  .extend({
    state: z.literal('ended'),
    outcome,
    explanation: z.string(),
    /** The final answer; empty when the turn ended without one. */
    text: z.string(),
  })
  .meta({ id: 'EndedTurn' });

export const waitingCall = z
  .object({
    /**
     * Name of the call in the conversation, such as `3.2.0`: number of the turn, of the model call in it, and index in the answer.
     */
    call: z.string(),
    turnId: z.string(),
    /** `approval`: approve or deny it. `question`: answer it. */
    kind: z.enum(['approval', 'question']),
    tool: z.string(),
    /** JSON as the model wrote it. */
    arguments: z.string(),
    /** All rules that made it ask. A decision for the turn or the agent covers each of them. */
    rules: listOf(z.string()),
    requestedAt: isoTime,
    /** When it counts as denied or not answered. */
    expiresAt: isoTime,
  })
  .meta({ id: 'WaitingCall' });

export const waitingCallOfTenant = waitingCall
  .extend({ conversationId: z.string(), agent: z.string() })
  .meta({ id: 'WaitingCallOfTenant' });

export const decidedCall = waitingCallOfTenant
  .omit({ requestedAt: true, expiresAt: true })
  .extend({
    decision: z.enum(['approved', 'denied', 'answered', 'expired']),
    /** What it decided: this call, the turn, or the agent. `null`: it expired. */
    scope: z.enum(['call', 'turn', 'agent']).nullable(),
    /** The reason or the answer. */
    text: z.string().nullable(),
    /** Name of a person or of an API key, if known. */
    decidedBy: z.string().nullable(),
    decidedAt: isoTime,
    /** An earlier decision for the turn or the agent covered it. */
    covered: z.boolean(),
  })
  .meta({ id: 'DecidedCall' });

export const conversation = z
  .object({
    conversationId: z.string(),
    agent: z.string(),
    model: z.string().nullable(),
    /** Selects the memories of scope `user`. `null`: the agent's `memory.user`. */
    user: z.string().nullable(),
    /** First line of the first message, clipped. */
    title: z.string(),
    createdAt: isoTime,
    /** Of all branches. `log.count` counts those of the active one. */
    entryCount: count,
    /** Number of the newest event. Give it to `watch` as `afterSequence` to get only later events. */
    eventCount: count,
    waitingMessages: count,
    /** Estimated tokens of the newest model call and its input budget. `null` before the first call. */
    fill: z.object({ tokens: count, inputBudget: count.nullable() }).nullable(),
    /** How many secrets were replaced in summaries and in what they were made from. */
    secretsRedacted: count,
    /** Tool calls of the open turn that wait for a person. */
    waitingCalls: listOf(waitingCall),
    /** What comes next and no worker has so far. The turn begins or goes on once a worker has it. `null`: nothing is known to be missing. */
    workerNeed: z.object({ needs: z.enum(['agent', 'preset', 'provider', 'tool']), name: z.string() }).nullable(),
    /** The newest turn; `null` before the first one began. */
    turn: turnSummary.nullable(),
  })
  .meta({ id: 'Conversation' });

export const workflowRun = z.object({
  workflowId: z.string(),
  /** `null` for one that began no turn: it may be there, or not. */
  runId: z.string().nullable(),
});

export const importedConversation = z
  .object({
    conversationId: z.string(),
    turns: count,
    entries: count,
    /** Rules that are pinned in it. */
    pins: count,
    /** How many memories came with it, by scope. */
    memories: listOf(z.object({ scope: z.enum(['agent', 'user', 'workspace']), scopeName: z.string(), count })),
  })
  .meta({ id: 'ImportedConversation' });

export const sentDecision = z
  .object({
    conversationId: z.string(),
    /** The call that was decided, as in `WaitingCall`. */
    call: z.string(),
    turnId: z.string(),
    tool: z.string(),
    /** JSON as the model wrote it. */
    arguments: z.string(),
    /** All rules that made it ask. A decision for the turn or the agent covers each of them. */
    rules: listOf(z.string()),
    /** True if the same id decided it before. Then nothing was written. */
    duplicate: z.boolean(),
    /** How many waiting calls it decided, with `for: 'agent'` also in other conversations. */
    decided: count,
  })
  .meta({ id: 'SentDecision' });

export const standingApproval = z
  .object({
    agent: z.string(),
    rule: z.string(),
    decision: z.enum(['approved', 'denied']),
    decidedAt: isoTime,
  })
  .meta({ id: 'StandingApproval' });

/** Part of a list, in the order of the list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: listOf(item),
    /** Whether the list goes on beyond it, in the direction in which it was asked for. */
    hasMore: z.boolean(),
  });
